"""Keys that sign and verify, ed25519 in PEM files; the package cryptography is imported when it is used."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from widenet.base.errors import InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

LONGEST_KEY = 2**16  # bytes that are read of a file that should be a key
PRIVATE_ADVICE = "make one with openssl genpkey -algorithm ed25519"
PUBLIC_ADVICE = "openssl pkey -in KEY -pubout prints it"


def private_key(path: str | Path) -> "Ed25519PrivateKey":
    """The key that signs, from a PEM file that no passphrase locks."""
    serialization, ed25519 = _library()
    try:
        key: Any = serialization.load_pem_private_key(_content(path), password=None)
    except TypeError as error:  # how the library tells that it needs a passphrase
        raise InputError(
            f"{path} is encrypted with a passphrase, which is not supported: decrypt it with "
            "openssl pkey -in KEY -out NEW."
        ) from error
    except _unreadable() as error:
        raise InputError(f"{path} holds no private key in PEM: {PRIVATE_ADVICE}.") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise InputError(f"{path} holds a key of another kind than ed25519: {PRIVATE_ADVICE}.")
    return key


def public_key(path: str | Path) -> "Ed25519PublicKey":
    """The key that signatures are checked with, from a PEM file."""
    serialization, ed25519 = _library()
    content = _content(path)
    if b"PRIVATE KEY-----" in content:
        raise InputError(f"{path} holds a private key, where the public one belongs: {PUBLIC_ADVICE}.")
    try:
        key: Any = serialization.load_pem_public_key(content)
    except _unreadable() as error:
        raise InputError(f"{path} holds no public key in PEM: {PUBLIC_ADVICE}.") from error
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise InputError(f"{path} holds a key of another kind than ed25519: {PUBLIC_ADVICE}.")
    return key


def is_signed(content: bytes, signature: bytes, key: "Ed25519PublicKey") -> bool:
    """Whether the owner of the key signed this very content."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise InputError(
            "Signatures need the package cryptography: install it with pip install 'widenet[sign]'."
        ) from error
    return serialization, ed25519


def _unreadable() -> tuple[type[Exception], ...]:
    """What the library raises for content that is no key, or one of a kind that it does not know."""
    from cryptography.exceptions import UnsupportedAlgorithm

    return ValueError, UnsupportedAlgorithm


def _content(path: str | Path) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(LONGEST_KEY)
    except OSError as error:
        raise InputError(f"The key {path} cannot be read ({error.strerror}).") from error
