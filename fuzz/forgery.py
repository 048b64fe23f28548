"""The folder of a certificate in the hands of a liar, who recomputes every hash after every lie."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors

SEALED = ("certificate.json", "config.json", "report.html", "result.json", "weights.safetensors")


class Forgery:
    """A folder with a certificate, its weights and its manifest, and the means to lie about them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.certificate, self.weights = path / "certificate.json", path / "weights.safetensors"
        self.manifest, self.signature = path / "manifest.json", path / "manifest.sig"

    def record(self) -> dict[str, Any]:
        """The fields of the certificate."""
        record: dict[str, Any] = json.loads(self.certificate.read_bytes())
        return record

    def tensors(self) -> dict[str, np.ndarray]:
        """W, and R of three layers, to change."""
        return {name: tensor.copy() for name, tensor in load_tensors(self.weights.read_bytes()).items()}

    def neurons(self) -> np.ndarray:
        """W, shape (k, r), to change."""
        return self.tensors()["W"]

    def sign(self, record: dict[str, Any]) -> None:
        """Write a certificate whose digest belongs to it, and a manifest that belongs to that."""
        record = {key: value for key, value in record.items() if key != "digest"}
        digest = hashlib.sha256(_text(record)).hexdigest()
        self.certificate.write_bytes(_text(record | {"digest": digest}))
        self.reseal()

    def reseal(self) -> None:
        """Write a manifest of the files as they are now."""
        hashes = {name: hashlib.sha256((self.path / name).read_bytes()).hexdigest() for name in SEALED}
        self.manifest.write_bytes(_text({"files": hashes, "schema": "widenet/manifest/1"}))

    def forge(self, **changes: Any) -> None:
        """Change fields of the certificate, nested ones by `network__scale`, and sign it again."""
        record = self.record()
        for name, value in changes.items():
            *outer, last = name.split("__")
            inside = record
            for part in outer:
                inside = inside[part]
            inside[last] = value
        self.sign(record)

    def forge_weights(self, content: bytes) -> None:
        """Replace the file of weights, and let the certificate have its hash."""
        self.weights.write_bytes(content)
        self.forge(network__weights_sha256=hashlib.sha256(content).hexdigest())


def _text(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, indent=2, sort_keys=True) + "\n").encode()
