"""The files of a memorised data set, besides its page."""

from collections.abc import Mapping
from typing import Any

from widenet.memorise.checker.files import CERTIFICATE_FILE, MANIFEST_FILE, SIGNATURE_FILE, WEIGHTS_FILE
from widenet.memorise.manifest import manifest_bytes
from widenet.memorise.result import MemoriseResult
from widenet.report.memorise.sentences import method_notes, requirements, sentences

FILES = (WEIGHTS_FILE, CERTIFICATE_FILE, MANIFEST_FILE, SIGNATURE_FILE)


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


def seal(result: MemoriseResult, contents: Mapping[str, bytes], key: Any) -> dict[str, bytes]:
    """The manifest of a certified folder, and its signature if there is a key; nothing without a certificate.

    Args:
        result: What was found.
        contents: All other files.
        key: An ed25519 private key, or None.
    """
    if not result.certified:
        return {}
    manifest = manifest_bytes(contents)
    return {MANIFEST_FILE: manifest} | ({} if key is None else {SIGNATURE_FILE: key.sign(manifest)})
