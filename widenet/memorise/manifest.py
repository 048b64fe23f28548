"""The manifest: hashes of every file of a folder, so that a changed byte in any of them shows.

It stands beside the certificate, not in it: page and result hold times, but equal runs have equal
certificates.
"""

import hashlib
from collections.abc import Mapping

from widenet.memorise.certificate import canonical

MANIFEST_SCHEMA = "widenet/manifest/1"


def manifest_bytes(contents: Mapping[str, bytes]) -> bytes:
    """SHA-256 of each file by its name, as a file that is written in one way only."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return canonical({"schema": MANIFEST_SCHEMA, "files": hashes})
