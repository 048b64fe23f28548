"""The files of a certificate's folder: plain, of an expected size, and those that its manifest names."""

import hashlib
import os
import stat
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.keys import is_signed
from widenet.base.wording import listed
from widenet.memorise.checker.claim import Claim, RefutedError, canonical, record_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

CERTIFICATE_FILE, WEIGHTS_FILE = "certificate.json", "weights.safetensors"
MANIFEST_FILE, SIGNATURE_FILE = "manifest.json", "manifest.sig"
BESIDE = ("config.json", "report.html", "result.json")  # what else a manifest names
MANIFEST_SCHEMA = "widenet/manifest/1"
LONGEST_CERTIFICATE = 2**20  # bytes; of the manifest, too
LONGEST_BESIDE = 2**28  # bytes of the other files; a page has less than 1 MiB, or many columns to list
SIGNATURE_BYTES = 64  # of ed25519


class SignatureStatus(Enum):
    """Who signed the folder: nobody, a key that was not named and so not checked, or the trusted one."""

    UNSIGNED = "unsigned"
    UNCHECKED = "unchecked"
    TRUSTED = "trusted"
    REFUTED = "refuted"


def read_file(path: Path, least: int, most: int) -> bytes:
    """A plain file of a size that was expected; anything else is refused before it is read."""
    try:
        # A pipe would make opening wait; its size and kind are those of what was opened, not of a name.
        flags = (getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))
        descriptor = os.open(path, os.O_RDONLY | sum(flags))
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise RefutedError(f"{path.name} is not a plain file.")
            if not least <= about.st_size <= most:
                told = "shorter" if about.st_size < least else "longer"
                raise RefutedError(f"{path.name} has {about.st_size:,} bytes, {told} than it can be.")
            return file.read(most)
    except OSError as error:
        if path.is_symlink():  # what it leads to may be another file tomorrow
            raise RefutedError(f"{path.name} is not a plain file, but a link.") from error
        raise RefutedError(f"{path.name} cannot be read ({error.strerror}).") from error


def check_files(folder: Path, claim: Claim, certificate: bytes) -> tuple[bytes, str]:
    """The manifest, if every file is the one that it names; of the weights, if they are the certificate's.

    Args:
        folder: Where the files are.
        claim: What the certificate says.
        certificate: Its file as it was read for that; another one may be there by now.
    """
    content = read_file(folder / MANIFEST_FILE, 0, LONGEST_CERTIFICATE)
    hashes = _hashes(content)
    if hashes[WEIGHTS_FILE] != claim.weights_sha256:
        raise RefutedError(f"{MANIFEST_FILE} and the certificate are about different weights.")
    found = {name: read_file(folder / name, 0, LONGEST_BESIDE) for name in BESIDE}
    for name, file in {CERTIFICATE_FILE: certificate, **found}.items():
        if hashlib.sha256(file).hexdigest() != hashes[name]:
            raise RefutedError(f"{name} was changed: its hash is not the one in {MANIFEST_FILE}.")
    return content, f"{listed(BESIDE)} are those that {MANIFEST_FILE} names.{_strangers(folder)}"


def _hashes(content: bytes) -> dict[str, str]:
    """The hashes of a manifest by the names of the files, which are known."""
    record = record_of(content, MANIFEST_FILE)
    if canonical(record, MANIFEST_FILE) != content:
        raise RefutedError(f"{MANIFEST_FILE} was changed: its layout is not that of a manifest.")
    hashes = record.pop("files", None)
    if record != {"schema": MANIFEST_SCHEMA} or not isinstance(hashes, dict):
        raise RefutedError(f"{MANIFEST_FILE} is not of the schema {MANIFEST_SCHEMA!r}, the only one known.")
    names = sorted((CERTIFICATE_FILE, WEIGHTS_FILE, *BESIDE))
    if sorted(hashes) != names:
        raise RefutedError(f"{MANIFEST_FILE} does not name exactly {listed(names)}.")
    return hashes


def _strangers(folder: Path) -> str:
    """Words for files that nobody vouches for; empty where there are none."""
    known = {CERTIFICATE_FILE, WEIGHTS_FILE, MANIFEST_FILE, SIGNATURE_FILE, *BESIDE}
    others = sorted(path.name for path in folder.iterdir() if path.name not in known)
    return f" Nobody vouches for {listed(others, limit=3)}." if others else ""


def check_signature(folder: Path, key: "Ed25519PublicKey", manifest: bytes) -> tuple[bool, str]:
    """Whether the owner of the key signed the manifest, and so every file that it names."""
    if not _is_there(folder / SIGNATURE_FILE):
        raise RefutedError(f"There is no signature: {SIGNATURE_FILE} is missing.")
    signature = read_file(folder / SIGNATURE_FILE, SIGNATURE_BYTES, SIGNATURE_BYTES)
    if not is_signed(manifest, signature, key):
        raise RefutedError(f"{SIGNATURE_FILE} is not a signature of {MANIFEST_FILE} by the key you trust.")
    return True, f"{MANIFEST_FILE}, and so every file that it names, is signed by the key you trust."


def signature_status(folder: Path, *, asked: bool, trusted: bool) -> SignatureStatus:
    """Who signed: `asked` where a key was named, `trusted` where it did."""
    if asked:
        return SignatureStatus.TRUSTED if trusted else SignatureStatus.REFUTED
    return SignatureStatus.UNCHECKED if _is_there(folder / SIGNATURE_FILE) else SignatureStatus.UNSIGNED


def _is_there(path: Path) -> bool:
    """Whether there is anything of this name, be it a link to nowhere."""
    return os.path.lexists(path)
