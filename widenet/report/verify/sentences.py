"""A verification in a sentence."""

from typing import Any

from widenet.base.wording import counted
from widenet.memorise.checker.files import SignatureStatus
from widenet.memorise.checker.verify import CheckStatus, VerifyResult

AUTHORS = {
    SignatureStatus.UNSIGNED: "Unsigned: shows damage, not authorship.",
    SignatureStatus.UNCHECKED: "Signed by a key you did not name: shows damage, not authorship.",
    SignatureStatus.TRUSTED: "Signed by the key you trust.",
    SignatureStatus.REFUTED: "Not shown to be signed by the key you trust.",
}


def sentences(result: VerifyResult) -> tuple[str, ...]:
    """Whether the certificate is true, as far as that could be decided, and whose it is."""
    return (_verdict(result), AUTHORS[result.signature])


def _verdict(result: VerifyResult) -> str:
    total, undecided = len(result.checks), result.num_checks(CheckStatus.UNDECIDED)
    if result.refuted:
        return f"Refuted: {result.num_checks(CheckStatus.FAILED)} of {total} checks failed."
    if not result.verified:
        names = ", ".join(check.name for check in result.checks if check.status is CheckStatus.UNDECIDED)
        return f"Not verified: {undecided} of {total} checks could not be decided here ({names})."
    return f"Verified: {counted(total, 'check')} passed, none was left out."


def record(result: VerifyResult) -> dict[str, Any]:
    """The verification as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}
