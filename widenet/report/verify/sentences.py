"""A verification in a sentence."""

from typing import Any

from widenet.memorise.checker.verify import CheckStatus, VerifyResult


def sentences(result: VerifyResult) -> tuple[str, ...]:
    """Whether the certificate is true, as far as that could be checked."""
    total, skipped = len(result.checks), result.num_checks(CheckStatus.SKIPPED)
    if not result.verified:
        return (f"Not verified: {result.num_checks(CheckStatus.FAILED)} of {total} checks failed.",)
    left = f"; {skipped} of {total} could not be run here" if skipped else ""
    return (f"Verified: every check that was run passed{left}.",)


def record(result: VerifyResult) -> dict[str, Any]:
    """The verification as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}
