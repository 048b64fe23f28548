"""Where the scheduler of a Dask cluster listens, and a safe connection to it."""

import ipaddress
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from widenet.base.errors import InputError
from widenet.base.wording import shown

CONNECT = 15.0  # seconds in which a scheduler must answer, and in which one that is lost may come back
INSTALL = "A cluster needs Dask: install it with `pip install widenet[cluster]`."


@dataclass(frozen=True)
class ClusterAddress:
    """Where the scheduler of a Dask cluster listens, and how to talk to it.

    Whoever reaches a scheduler without TLS can run any code on its workers, and whoever sees its traffic can
    read the data. So plain addresses beyond this machine are refused, unless `insecure` says that the network
    is safe.

    Attributes:
        address: As tcp://127.0.0.1:8786 or tls://HOST:PORT.
        ca: File with the certificate of the authority that signed those of the cluster, in PEM.
        cert: File with the certificate of this client, in PEM.
        key: File with its private key, in PEM.
        insecure: Whether to talk in plain text beyond this machine.
    """

    address: str
    ca: str | Path | None = None
    cert: str | Path | None = None
    key: str | Path | None = None
    insecure: bool = False

    def check(self) -> None:
        """Refuse an address that cannot be right, is open to others, or that lacks files or packages."""
        scheme, host, port = address_parts(self.address)
        if scheme not in ("tcp", "tls") or not host or port is None:
            raise InputError(
                f"`cluster` is {shown(self.address)}, but must be the address of a scheduler, as "
                "tcp://127.0.0.1:8786 or tls://HOST:PORT."
            )
        if scheme == "tcp" and not (self.insecure or _is_loopback(host)):
            raise InputError(
                f"The address {shown(self.address)} is neither on this machine nor encrypted: use tls:// "
                "with `ca`, `cert` and `key`, or allow it with `insecure` where the network is safe."
            )
        for name in ("ca", "cert", "key") if scheme == "tls" else ():
            path = getattr(self, name)
            if path is None:
                raise InputError(f"The address {shown(self.address)} needs `{name}`, a file in PEM.")
            if not Path(path).is_file():
                raise InputError(f"`{name}` is {shown(path)}, but there is no such file.")
        if find_spec("distributed") is None:
            raise InputError(INSTALL)

    @property
    def must_stay_here(self) -> bool:
        """Whether the connection is plain, and so the cluster must be this machine's own."""
        return address_parts(self.address)[0] == "tcp" and not self.insecure

    @contextmanager
    def client(self) -> Iterator[Any]:
        """An open client of Dask."""
        self.check()
        import distributed

        security = None
        if address_parts(self.address)[0] == "tls":
            files = {"tls_ca_file": self.ca, "tls_client_cert": self.cert, "tls_client_key": self.key}
            paths = {name: str(path) for name, path in files.items()}
            security = distributed.Security(**paths, require_encryption=True)
        with _silent_logs():
            try:
                client = distributed.Client(self.address, timeout=CONNECT, security=security)
            except (OSError, ValueError, TypeError) as error:  # what an address may lead to, or a file be
                raise InputError(
                    f"No scheduler answers at {shown(self.address)} ({_first_line(error)}): look whether it "
                    "runs, and whether this machine can reach it."
                ) from None
            try:
                yield client
            finally:
                with suppress(Exception):  # of a scheduler that is gone; the result is what counts
                    client.close(timeout=CONNECT)


def refuse_open(address: str) -> None:
    """Refuse a scheduler or worker that others can reach, such as one that listens on all interfaces."""
    host = address_parts(address)[1]
    if host is None or not _is_loopback(host):
        raise InputError(
            f"{shown(address)} of the cluster can be reached from other machines, in plain text: let it "
            "listen on 127.0.0.1 alone, use tls://, or allow it with `insecure` where the network is safe."
        )


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Without what Dask logs of lost connections, which are told in a sentence."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def address_parts(address: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port; Dask takes an address without a scheme for a plain one."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        return parts.scheme, parts.hostname, parts.port
    except ValueError:
        return "", None, None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
