"""The files of a memorised data set, besides its page."""

from typing import Any

from widenet.memorise.checker.verify import CERTIFICATE_FILE, WEIGHTS_FILE
from widenet.memorise.result import MemoriseResult
from widenet.report.memorise.sentences import method_notes, requirements, sentences

FILES = (WEIGHTS_FILE, CERTIFICATE_FILE)


def record(result: MemoriseResult) -> dict[str, Any]:
    """The result as JSON has it."""
    return result.to_dict() | {
        "conditions": list(requirements(result.conditions)),
        "notes": list(method_notes(result.plan)),
        "verdict": list(sentences(result)),
    }


def files(result: MemoriseResult) -> dict[str, str | bytes]:
    """The weights, and the certificate if there is one."""
    certificate = {} if result.certificate is None else {CERTIFICATE_FILE: result.certificate}
    return {WEIGHTS_FILE: result.weights, **certificate}
