"""A test for each way in which somebody may try to pass off a folder as a certificate.

Lies with hashes that belong to them, field by field, stand in tests/memorise/checker/test_verify_lies.py
(huge neurons that cancel, wrong shapes and extra tensors, weights that are not finite), damaged certificates
and weights in test_verify_files.py beside it (every bit, truncated and enormous files, hostile headers,
pickles). Here is what concerns the folder as a whole, its manifest and its signature, and what is left.
"""

import json
import os
import shutil
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization as formats
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from safetensors.numpy import save as save_tensors

import widenet
from fuzz import certificates
from fuzz.forgery import SEALED, Forgery
from widenet.base.errors import InputError
from widenet.memorise.checker import verify as verify_module
from widenet.memorise.checker.files import SignatureStatus

BESIDE = ("config.json", "report.html", "result.json")
PEM, PKCS8 = formats.Encoding.PEM, formats.PrivateFormat.PKCS8


def write_keys(place: Path, name: str, key=None) -> None:
    """What `openssl genpkey` and `openssl pkey -pubout` write: NAME.pem and NAME-public.pem."""
    key = key or ed25519.Ed25519PrivateKey.generate()
    (place / f"{name}.pem").write_bytes(key.private_bytes(PEM, PKCS8, formats.NoEncryption()))
    public = key.public_key().public_bytes(PEM, formats.PublicFormat.SubjectPublicKeyInfo)
    (place / f"{name}-public.pem").write_bytes(public)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Data, the keys of two people, and two folders that one of them signed."""
    place = tmp_path_factory.mktemp("signed")
    rng = np.random.default_rng(0)
    np.savez(place / "rows.npz", X=rng.normal(size=(14, 6)), y=np.array(list("abc"))[np.arange(14) % 3])
    for name in ("mine", "other"):
        write_keys(place, name)
    for name, options in (("signed", {"layers": 2}), ("another", {"layers": 3})):
        result = widenet.run_memorise(
            widenet.load(str(place / "rows.npz")), widenet.MemoriseSettings(**options)
        )
        result.save(place / name, sign=place / "mine.pem")
    return place


@pytest.fixture
def folder(place, tmp_path) -> Forgery:
    return Forgery(shutil.copytree(place / "signed", tmp_path / "folder"))


@pytest.fixture
def found(folder, place):
    """Verify the folder; the check that is asked for, or the first that did not pass."""

    def run(name: str | None = None, trust: str | None = None):
        result = widenet.verify(folder.path, trust=None if trust is None else place / trust)
        bad = [check for check in result.checks if check.status.value != "passed"]
        assert result.verified is not bool(bad)
        return next((check for check in bad if name in (None, check.name)), None)

    return run


def refuted(check, *words: str) -> bool:
    return check.status.value == "failed" and all(word in check.sentence for word in words)


def test_a_signed_folder_is_verified_with_the_key_and_without(folder, place):
    with_key = widenet.verify(folder.path, trust=str(place / "mine-public.pem"))
    assert (with_key.verified, with_key.signature) == (True, SignatureStatus.TRUSTED)
    without = widenet.verify(folder.path)
    assert (without.verified, without.signature) == (True, SignatureStatus.UNCHECKED)
    folder.signature.unlink()
    assert widenet.verify(folder.path).signature is SignatureStatus.UNSIGNED


@pytest.mark.parametrize("name", BESIDE)
def test_a_changed_byte_in_any_file(folder, found, name):
    path = folder.path / name
    content = path.read_bytes()
    for position in (0, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
        assert refuted(found("files"), name, "was changed")
    path.write_bytes(content)
    assert found() is None


@pytest.mark.parametrize("name", [*BESIDE, "manifest.json"])
def test_what_is_no_plain_file(folder, found, tmp_path, name):
    """A file that is gone, a link (also one that leads to the same bytes), a device, a pipe, a folder."""
    path = folder.path / name
    elsewhere = shutil.copy(path, tmp_path / "elsewhere")
    path.unlink()
    assert refuted(found("files"), name, "No such file")
    for target in (elsewhere, "/dev/zero", path):
        path.symlink_to(target)
        assert refuted(found("files"), name, "not a plain file")
        path.unlink()
    os.mkfifo(path)
    assert refuted(found("files"), name, "not a plain file")
    path.unlink()
    path.mkdir()
    assert refuted(found("files"), name)
    path.rmdir()
    with path.open("wb") as file:
        file.truncate(2**40)  # sparse: takes no room
    assert refuted(found("files"), name, "longer than it can be")


def test_a_signature_that_is_no_plain_file(folder, found):
    folder.signature.unlink()
    os.mkfifo(folder.signature)
    assert refuted(found("signature", "mine-public.pem"), "not a plain file")
    folder.signature.unlink()
    folder.signature.symlink_to("/dev/zero")
    assert refuted(found("signature", "mine-public.pem"), "not a plain file")


def test_a_certificate_that_links_outside(folder, found, place):
    for name, check in (("certificate.json", "certificate"), ("weights.safetensors", "weights")):
        path = folder.path / name
        content = path.read_bytes()
        path.unlink()
        path.symlink_to(place / "signed" / name)
        assert refuted(found(check), "link")
        path.unlink()
        path.write_bytes(content)


def test_a_file_that_nobody_vouches_for_is_told(folder):
    (folder.path / "notes.txt").write_text("The network reads minds.")
    result = widenet.verify(folder.path)
    assert result.verified
    assert "Nobody vouches for 'notes.txt'" in next(c.sentence for c in result.checks if c.name == "files")


def test_a_manifest_of_another_folder(folder, found, place):
    shutil.copy(place / "another" / "manifest.json", folder.manifest)
    assert refuted(found("files"), "different weights")
    shutil.copy(place / "another" / "manifest.sig", folder.signature)
    assert refuted(found("files", "mine-public.pem"))


def test_a_manifest_that_was_written_anew_passes_only_unsigned(folder, found):
    """Whoever changes a report can hash it again; only a signature tells who did."""
    page = folder.path / "report.html"
    page.write_text(page.read_text().replace("</body>", "<p>99.9% accurate</p></body>"))
    folder.reseal()
    assert found() is None
    assert refuted(found("signature", "mine-public.pem"), "not a signature of manifest.json")


MANIFESTS = {
    "fewer files": lambda m: m["files"].pop("report.html"),
    "more files": lambda m: m["files"].update({"../../etc/passwd": "0" * 64}),
    "another schema": lambda m: m.update(schema="widenet/manifest/2"),
    "a field more": lambda m: m.update(author="me"),
    "no files": lambda m: m.pop("files"),
    "a list of files": lambda m: m.update(files=list(m["files"])),
    "a number for a hash": lambda m: m["files"].update({"report.html": 7}),
    "a name of look-alikes": lambda m: m["files"].update({"rеport.html": m["files"].pop("report.html")}),
}


@pytest.mark.parametrize("change", MANIFESTS)
def test_a_manifest_with_other_fields(folder, found, change):
    manifest = json.loads(folder.manifest.read_text())
    MANIFESTS[change](manifest)
    folder.manifest.write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    assert refuted(found("files"))


@pytest.mark.parametrize(
    "content", [b"", b"null", b"{}", b"[" * 100_000, b'{"files":' * 900 + b"1" + b"}" * 900, b"\xff", b"NaN"]
)
def test_a_manifest_that_is_none(folder, found, content):
    folder.manifest.write_bytes(content)
    assert refuted(found("files"), "manifest.json")


def test_every_bit_of_manifest_and_signature(folder, found):
    for path, check in ((folder.manifest, "files"), (folder.signature, "signature")):
        content = path.read_bytes()
        for position in range(0, len(content), 1 + len(content) // 25):
            changed = bytearray(content)
            changed[position] ^= 1 << position % 8
            path.write_bytes(changed)
            assert refuted(found(check, "mine-public.pem"))
        path.write_bytes(content)


def test_a_missing_signature(folder, found):
    folder.signature.unlink()
    assert refuted(found("signature", "mine-public.pem"), "There is no signature")


def test_a_signature_by_another_key(folder, found):
    assert refuted(found("signature", "other-public.pem"), "by the key you trust")


def test_the_signature_of_another_certificate(folder, found, place):
    shutil.copy(place / "another" / "manifest.sig", folder.signature)
    assert refuted(found("signature", "mine-public.pem"), "not a signature of manifest.json")


@pytest.mark.parametrize("size", [0, 63, 65, 2**20])
def test_a_signature_of_another_length(folder, found, size):
    folder.signature.write_bytes(b"\1" * size)
    assert refuted(found("signature", "mine-public.pem"), "than it can be")


def test_a_key_is_never_copied(place):
    secret = (place / "mine.pem").read_bytes().splitlines()[1]
    for name in ("signed", "another"):
        assert {path.name for path in (place / name).iterdir()} == {*SEALED, "manifest.json", "manifest.sig"}
        for path in (place / name).iterdir():
            content = path.read_bytes()
            assert secret not in content
            assert b"mine.pem" not in content


def test_keys_that_are_none(place, tmp_path):
    locked = formats.BestAvailableEncryption(b"secret")
    key = ed25519.Ed25519PrivateKey.generate()
    (tmp_path / "locked.pem").write_bytes(key.private_bytes(PEM, PKCS8, locked))
    write_keys(tmp_path, "curve", ec.generate_private_key(ec.SECP256R1()))
    (tmp_path / "text.pem").write_text("no key")
    result = widenet.memorise(str(place / "rows.npz"), layers=2)
    for path, words in (
        (tmp_path / "locked.pem", "encrypted with a passphrase"),
        (tmp_path / "curve.pem", "another kind than ed25519"),
        (tmp_path / "text.pem", "no private key in PEM"),
        (place / "mine-public.pem", "no private key in PEM"),
        (tmp_path / "none.pem", "cannot be read"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(InputError, match=words):
            result.save(tmp_path / "out", sign=path)
        assert not (tmp_path / "out").exists()
    for path, words in (
        (place / "mine.pem", "holds a private key"),
        (tmp_path / "curve-public.pem", "another kind than ed25519"),
        (tmp_path / "text.pem", "no public key in PEM"),
        (tmp_path / "none.pem", "cannot be read"),
    ):
        with pytest.raises(InputError, match=words):
            widenet.verify(place / "signed", trust=path)


def test_without_the_library_a_sentence_says_what_to_install(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(InputError, match=r"pip install 'widenet\[sign\]'"):
        widenet.verify(place / "signed", trust=place / "mine-public.pem")
    assert widenet.verify(place / "signed").verified


def test_sigma_of_features_that_depend_on_each_other(place, tmp_path):
    """A random layer of one direction: all z_j ⊗ z_j are multiples of one tensor, and σ_min is 0."""
    folder = Forgery(shutil.copytree(place / "another", tmp_path / "flat"))
    tensors = folder.tensors()
    tensors["R"][:] = tensors["R"][0]
    folder.forge_weights(save_tensors(tensors))
    result = widenet.verify(folder.path)
    assert not result.verified
    rows = widenet.load(str(place / "rows.npz"))
    network = folder.record()["network"]
    Z = network["scale"] * (rows.X.numpy() @ tensors["R"].T) ** network["power"]
    tensors["W"][:] = 0.0
    y = rows.labels.numpy().astype(float)
    norm = float(np.abs(np.linalg.eigvalsh((Z.T * -y) @ Z / len(y))).max())
    folder.forge_weights(save_tensors(tensors))
    honest = {"loss": float((y**2).sum() / (4 * len(y))), "max_residual": float(y.max())}
    folder.forge(**honest, curvature_norm=norm, lambda_min=-norm, tolerance=0.5)
    check = next(check for check in widenet.verify(folder.path).checks if check.name == "sigma_min")
    assert refuted(check, "at most")


@pytest.mark.parametrize("factor", [0.97, 1.03, 1.5])
def test_a_false_value_of_sigma(folder, found, factor):
    value = folder.record()["sigma_min"]["value"]
    folder.forge(sigma_min__value=factor * value, sigma_min__lower=min(1.0, factor) * 0.9 * value)
    assert refuted(found("sigma_min"))


FIELDS = {
    "a subnormal loss that is more than it seems": {"loss": 1e-3, "max_residual": 5e-324},
    "a subnormal floor": {"sigma_min__lower": 5e-324},
    "a subnormal value": {"sigma_min__lower": 5e-324, "sigma_min__value": 5e-324},
    "a subnormal tolerance": {"tolerance": 5e-324},
    "the largest noise": {"data__noise": 1.7e308},
    "the largest floor": {"sigma_min__lower": 1.7e308, "sigma_min__value": 1.7e308},
    "a huge whole number": {"n": 10**400},
    "a seed beyond any": {"data__seed": 2**63},
    "a whole number for one with a point": {"loss": 0},
    "more rows than bytes": {"points": 2**48},
    "not a number": {"loss": float("nan")},
    "an infinite bound": {"bound": float("inf")},
    "a folder that may not be read": {"data__source": "/proc", "data__file_sha256": None},
    "a device": {"data__source": "/dev/zero", "data__file_sha256": None},
    "a name that is no text": {"data__source": "\ud800.csv"},
    "a name with a zero": {"data__source": "a\0b.csv"},
    "a name of 100,000 letters": {"data__source": "a" * 100_000},
}


@pytest.mark.parametrize("field", FIELDS)
def test_fields_beyond_reason(folder, found, field):
    folder.forge(**FIELDS[field])
    assert found() is not None


def test_a_key_that_is_there_twice(folder, found):
    """Readers differ in which of the two they take, so neither is accepted."""
    text = folder.certificate.read_text()
    folder.certificate.write_text(text.replace('  "n": 14,', '  "n": 99,\n  "n": 14,'))
    folder.reseal()
    assert refuted(found("certificate"), "layout")
    folder.certificate.write_text(text)
    folder.reseal()
    manifest = folder.manifest.read_text()
    line = next(line for line in manifest.splitlines() if "report.html" in line)
    folder.manifest.write_text(manifest.replace(line, f'    "report.html": "{"0" * 64}",\n{line}'))
    assert refuted(found("files"), "layout")


@pytest.mark.parametrize("name", ["ｌoss", "loss\u200b", "lоss", "LOSS", "loss\0", "loss\ud800"])
def test_keys_that_only_look_alike(folder, found, name):
    assert name != "loss"
    record = folder.record()
    record[name] = record.pop("loss")
    folder.sign(record)
    assert refuted(found("certificate"))
    if unicodedata.normalize("NFKC", name) == "loss":  # nor is a certificate read with both
        record["loss"] = record[name]
        folder.sign(record)
        assert refuted(found("certificate"))


def test_brackets_without_end(folder, found):
    record = folder.record()
    deep: list = []
    for _ in range(900):
        deep = [deep]
    folder.sign(record | {"version": "1"})
    text = folder.certificate.read_text().replace('"version": "1"', f'"version": {json.dumps(deep)}')
    folder.certificate.write_text(text)
    folder.reseal()
    assert refuted(found("certificate"))


@pytest.mark.parametrize("factor", [0.9905, 0.995, 1.005, 1.0095])
def test_a_value_of_sigma_within_its_percent_is_never_refuted(folder, found, factor):
    """It may be undecided near the edge, where only a bound that is off by some thousandths tells."""
    value = folder.record()["sigma_min"]["value"]
    bound = folder.record()["bound"] * (folder.record()["sigma_min"]["lower"] / (0.9 * value)) ** 2
    folder.forge(sigma_min__value=factor * value, sigma_min__lower=0.9 * value, bound=bound)
    check = found()
    assert check is None or check.status.value == "undecided"


def test_lies_of_all_kinds_are_told_as_exact_arithmetic_tells_them():
    report = certificates.run(48, seed=7)
    assert report.failures == []
    assert report.tried == sum(report.outcomes.values()) == 48
    assert {"verified", "refuted"} <= set(report.outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NARROW", 1e-2),
        ("_check_labels", lambda *about: (True, "")),
        ("_check_sigma", lambda *about: (True, "")),
    ],
)
def test_a_checker_that_is_too_lenient_is_found_out(monkeypatch, name, value):
    monkeypatch.setattr(verify_module, name, value)
    failures = certificates.run(160, seed=7).failures
    assert any("verified, although" in failure for failure in failures)
