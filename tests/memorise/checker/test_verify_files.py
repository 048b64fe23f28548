"""Files that were damaged, or made to do damage."""

import hashlib
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from widenet.base.errors import InputError
from widenet.memorise.checker.claim import RefutedError, parse_claim
from widenet.memorise.checker.verify import verify


def test_every_bit_of_a_certificate_counts(made):
    content = (made / "three" / "certificate.json").read_bytes()
    parse_claim(content)
    for position in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[position] ^= 1 << bit
            with pytest.raises(RefutedError):
                parse_claim(bytes(changed))


@pytest.mark.parametrize(
    "change",
    [lambda c: c + b"\n", lambda c: c.replace(b"  ", b"\t"), lambda c: c[:-1], lambda c: b"\xef\xbb\xbf" + c],
)
def test_white_space_counts(folder, change):
    path = folder.certificate
    path.write_bytes(change(path.read_bytes()))
    found = folder.verify()
    assert found.status("certificate") == "failed"
    assert not found.verified


def test_every_bit_of_the_weights_counts(folder):
    path = folder.weights
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    positions = [0, 8, 40, len(content) - 1, *rng.integers(len(content), size=6)]
    for position in positions:
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        found = folder.verify()
        assert found.status("weights") == "failed"
        assert "changed" in found.sentence("weights")


def test_every_bit_of_the_file_of_data_counts(folder, made, tmp_path):
    """Also of names and padding, and the last bit of a number, which scaling to norm 1 may round away."""
    path = tmp_path / "rows.npz"
    content = (made / "rows.npz").read_bytes()
    path.write_bytes(content)
    folder.forge(data__file_sha256=hashlib.sha256(content).hexdigest())
    assert folder.verify(str(path)).verified
    rng = np.random.default_rng(0)
    for position in (0, len(content) - 1, *rng.integers(len(content), size=6)):
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        found = folder.verify(str(path))
        assert "bit for bit" in found.sentence("data")
        assert not found.verified
    assert "bit for bit" in folder.verify("digits").sentence("data")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"3",
        b"\xff\xfe",
        b"{}",
        b'{"digest": NaN}',
        b'{"a": 1e999}',
        b"[" * 100_000,
        b'{"a":' + b"[" * 400 + b"]" * 400 + b"}",
        b'{"n": ' + b"9" * 6000 + b"}",
    ],
)
def test_certificates_that_are_none(folder, content):
    folder.certificate.write_bytes(content)
    found = folder.verify()
    assert found.status("certificate") == "failed"
    assert [check.status.value for check in found.checks[1:]] == ["skipped"] * 8


@pytest.mark.parametrize("name", ["certificate.json", "weights.safetensors"])
def test_missing_truncated_and_strange_files(folder, tmp_path, name):
    path = folder.path / name
    content, check = path.read_bytes(), name.split(".")[0]
    path.write_bytes(content[: len(content) // 2])
    assert folder.verify().status(check) == "failed"
    path.unlink()
    assert "No such file" in folder.verify().sentence(check)
    path.symlink_to("/dev/zero")
    assert "not a plain file" in folder.verify().sentence(check)
    path.unlink()
    os.mkfifo(path)
    assert "not a plain file" in folder.verify().sentence(check)
    path.unlink()
    path.mkdir()
    assert folder.verify().status(check) == "failed"


@pytest.mark.parametrize("name", ["certificate.json", "weights.safetensors"])
def test_an_enormous_file_is_not_read(folder, name):
    path = folder.path / name
    with path.open("r+b") as file:
        file.truncate(2**40)  # sparse: takes no room
    found = folder.verify()
    assert "longer than it can be" in found.sentence(name.split(".")[0])


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="not a folder"):
        verify(tmp_path / "none")


HEADERS = {
    "length beyond the file": struct.pack("<Q", 2**62),
    "offsets beyond the file": b'{"W":{"dtype":"F64","shape":[7,16],"data_offsets":[0,99999999]}}',
    "a shape that overflows": b'{"W":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,896]}}',
    "a dtype that is none": b'{"W":{"dtype":"PICKLE","shape":[7,16],"data_offsets":[0,896]}}',
    "not JSON": b"\x80\x04\x95" + b"x" * 60,
}


@pytest.mark.parametrize("kind", HEADERS)
def test_hostile_headers(folder, kind):
    size = len(folder.weights.read_bytes())
    header = HEADERS[kind]
    content = header if len(header) == 8 else struct.pack("<Q", len(header)) + header
    folder.forge_weights(content.ljust(size, b"\0"))
    found = folder.verify()
    assert found.status("weights") == "failed"


class Bomb:
    def __reduce__(self):
        return (Path("exploded").touch, ())


def test_nothing_is_unpickled(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size = len(folder.weights.read_bytes())
    folder.forge_weights(pickle.dumps(Bomb()).ljust(size, b"\0"))
    assert folder.verify().status("weights") == "failed"
    assert not (tmp_path / "exploded").exists()
