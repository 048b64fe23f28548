"""Certificates that are true, and everything that can be wrong with one."""

import ast
import hashlib
import json
import os
import pickle
import shutil
import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import widenet.memorise
from widenet.data import load
from widenet.errors import InputError
from widenet.memorise import verify as verify_module
from widenet.memorise.certificate import Source
from widenet.memorise.claim import RefutedError, parse_claim
from widenet.memorise.recheck import Net, distinct_rows, features, fit_of
from widenet.memorise.recheck_sigma import block_width, singular_floor
from widenet.memorise.run import MemoriseSettings, run_memorise
from widenet.memorise.verify import verify

CHECKS = ["certificate", "weights", "data", "loss", "labels", "curvature", "sigma_min", "bound"]


def write_rows(path: Path, n: int, d: int, *, numbers: bool = False) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=n) if numbers else np.array(list("abc"))[np.arange(n) % 3]
    np.savez(path, X=rng.normal(size=(n, d)), y=y)


def memorise_into(folder: Path, source: str, **settings) -> Path:
    dataset = load(source)
    about = Source(source, None, dataset.preparation.kind, False)
    done = run_memorise(dataset, MemoriseSettings(**settings), source=about)
    folder.mkdir()
    (folder / "weights.safetensors").write_bytes(done.weights)
    (folder / "certificate.json").write_bytes(done.certificate)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Folders of true certificates, made once: two layers, three, and numbers."""
    place = tmp_path_factory.mktemp("made")
    write_rows(place / "rows.npz", 14, 6)
    write_rows(place / "more.npz", 60, 5)
    write_rows(place / "numbers.npz", 20, 8, numbers=True)
    memorise_into(place / "two", str(place / "rows.npz"), layers=2)
    memorise_into(place / "three", str(place / "more.npz"), layers=3, noise=0.01, seed=7)
    memorise_into(place / "numbers", str(place / "numbers.npz"))
    np.savez(place / "line.npz", X=np.linspace(-1, 1, 20)[:, None], y=np.arange(20) % 3 + 0.0)
    return place


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """A copy of the two-layer folder to spoil."""
    return shutil.copytree(made / "two", tmp_path / "two")


def status(found, name: str) -> str:
    return next(check.status for check in found.checks if check.name == name)


def sentence(found, name: str) -> str:
    return next(check.sentence for check in found.checks if check.name == name)


def resigned(record: dict) -> bytes:
    """A certificate whose digest belongs to it, as a liar would write it."""
    record = {key: value for key, value in record.items() if key != "digest"}

    def text(content: dict) -> bytes:
        return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()

    return text(record | {"digest": hashlib.sha256(text(record)).hexdigest()})


def forge(folder: Path, **changes) -> None:
    """Change fields of a certificate, nested ones by 'network.scale', and sign it again."""
    record = json.loads((folder / "certificate.json").read_bytes())
    for name, value in changes.items():
        *outer, last = name.split("__")
        inside = record
        for part in outer:
            inside = inside[part]
        inside[last] = value
    (folder / "certificate.json").write_bytes(resigned(record))


def forge_weights(folder: Path, content: bytes) -> None:
    (folder / "weights.safetensors").write_bytes(content)
    forge(folder, network__weights_sha256=hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize("name", ["two", "three", "numbers"])
def test_a_true_certificate_passes_every_check(made, name):
    found = verify(made / name)
    assert [(check.name, check.status) for check in found.checks] == [(name, "passed") for name in CHECKS]
    assert found.verified
    assert found.to_dict()["checks"][0]["name"] == "certificate"


def test_digits_pass(tmp_path):
    found = verify(memorise_into(tmp_path / "digits", "digits"))
    assert found.verified
    assert status(found, "sigma_min") == "passed"


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
    path = folder / "certificate.json"
    path.write_bytes(change(path.read_bytes()))
    found = verify(folder)
    assert status(found, "certificate") == "failed"
    assert not found.verified


def test_every_bit_of_the_weights_counts(folder):
    path = folder / "weights.safetensors"
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    positions = [0, 8, 40, len(content) - 1, *rng.integers(len(content), size=6)]
    for position in positions:
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        found = verify(folder)
        assert status(found, "weights") == "failed"
        assert "changed" in sentence(found, "weights")


def test_every_bit_of_the_data_counts(made, tmp_path, folder):
    arrays = dict(np.load(made / "rows.npz"))
    bits = arrays["X"].view(np.uint64)
    bits[3, 2] ^= 1 << 20
    np.savez(tmp_path / "rows.npz", **arrays)
    found = verify(folder, str(tmp_path / "rows.npz"))
    assert status(found, "data") == "failed"
    assert "inputs" in sentence(found, "data")
    bits[3, 2] ^= 1 << 20
    arrays["y"][5] = "a" if arrays["y"][5] == "b" else "b"
    np.savez(tmp_path / "rows.npz", **arrays)
    found = verify(folder, str(tmp_path / "rows.npz"))
    assert "targets" in sentence(found, "data")
    assert not found.verified


def test_data_may_be_elsewhere(made, tmp_path, folder):
    shutil.copy(made / "rows.npz", tmp_path / "copy.npz")
    forge(folder, data__source="gone.npz")
    found = verify(folder)
    assert status(found, "data") == "failed"
    assert "gone.npz" in sentence(found, "data")
    assert verify(folder, str(tmp_path / "copy.npz")).verified


def test_other_data(folder, made):
    for other in ("digits", str(made / "more.npz")):
        found = verify(folder, other)
        assert status(found, "data") == "failed"
        assert "other data" in sentence(found, "data")
        assert status(found, "labels") == "skipped"
        assert not found.verified


LIES = {
    "loss": {"loss": 1e-9},
    "largest residual": {"max_residual": 1e-3},
    "no residual": {"max_residual": -1.0},
    "curvature": {"curvature_norm": 1e-3, "lambda_min": -1e-3},
    "lambda_min": {"lambda_min": 0.5},
    "sigma proved": {"sigma_min__lower": 10.0, "sigma_min__value": 20.0},
    "sigma value": {"sigma_min__value": 20.0},
    "sigma order": {"sigma_min__value": 1e-9},
    "sigma without a bound": {
        "sigma_min__lower": 0.0,
        "sigma_min__value": 1e6,
        "bound": None,
        "holds": None,
    },
    "sigma beyond floats when squared": {"sigma_min__lower": 1e200, "sigma_min__value": 1e201},
    "sigma whose inverse is": {"sigma_min__lower": 1e-200},
    "bound": {"bound": 1e-40},
    "bound left out": {"bound": None},
    "holds": {"holds": False},
    "tolerance": {"tolerance": 0.6},
    "points": {"points": 13},
    "rows": {"n": 13},
    "columns": {"d": 5, "k": 5},
    "layers": {"layers": 3},
    "neurons": {"r": 18},
    "odd neurons": {"r": 17},
    "signs": {"network__signs": {"positive": 6, "negative": 10}},
    "parameters": {"parameters": 1},
    "power": {"network__power": 2},
    "scale": {"network__scale": 1.5},
    "noise": {"data__noise": 0.01},
    "negative noise": {"data__noise": -0.01},
    "preparation": {"data__prepare": "unit"},
    "no such preparation": {"data__prepare": "magic"},
    "not reproduced": {"labels_reproduced": False},
    "text for a number": {"loss": "0"},
    "truth for a number": {"n": True},
    "a number for an object": {"sigma_min": 3},
    "a statement that nobody checks": {"accuracy": 1.0},
    "another one inside": {"data__owner": "me"},
    "schema": {"schema": "widenet/certificate/2"},
    "a huge number of rows": {"n": 10**30},
    "huge layers": {"d": 2**40, "k": 2**40, "r": 2**41 + 2, "parameters": 2**40 * (2**41 + 2)},
    "huge and allowed": {"k": 2**20, "d": 2**20, "r": 2**21 + 2, "parameters": 2**20 * (2**21 + 2)},
}


def test_a_power_beyond_sixteen(made, tmp_path):
    """Twenty rows of one column and the constant need forms of degree 40."""
    folder = memorise_into(tmp_path / "line", str(made / "line.npz"))
    assert json.loads((folder / "certificate.json").read_bytes())["network"]["power"] > 16
    assert verify(folder).verified


@pytest.mark.parametrize("lie", LIES)
def test_lies_with_a_digest_that_belongs_to_them(folder, lie):
    forge(folder, **LIES[lie])
    found = verify(folder)
    assert not found.verified
    assert all(check.sentence and "Traceback" not in check.sentence for check in found.checks)


def test_a_missing_field(folder):
    record = json.loads((folder / "certificate.json").read_bytes())
    for name in record:
        if name not in ("digest", "version"):
            content = resigned({key: value for key, value in record.items() if key != name})
            with pytest.raises(RefutedError):
                parse_claim(content)


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
    (folder / "certificate.json").write_bytes(content)
    found = verify(folder)
    assert status(found, "certificate") == "failed"
    assert [check.status for check in found.checks[1:]] == ["skipped"] * 7


@pytest.mark.parametrize("name", ["certificate.json", "weights.safetensors"])
def test_missing_truncated_and_strange_files(folder, tmp_path, name):
    path = folder / name
    content, check = path.read_bytes(), name.split(".")[0]
    path.write_bytes(content[: len(content) // 2])
    assert status(verify(folder), check) == "failed"
    path.unlink()
    assert "No such file" in sentence(verify(folder), check)
    path.symlink_to("/dev/zero")
    assert "not a plain file" in sentence(verify(folder), check)
    path.unlink()
    os.mkfifo(path)
    assert "not a plain file" in sentence(verify(folder), check)
    path.unlink()
    path.mkdir()
    assert status(verify(folder), check) == "failed"


@pytest.mark.parametrize("name", ["certificate.json", "weights.safetensors"])
def test_an_enormous_file_is_not_read(folder, name):
    path = folder / name
    with path.open("r+b") as file:
        file.truncate(2**40)  # sparse: takes no room
    found = verify(folder)
    assert "longer than it can be" in sentence(found, name.split(".")[0])


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="not a folder"):
        verify(tmp_path / "none")


def test_wrong_shapes_and_kinds_of_weights(folder):
    W = load_tensors((folder / "weights.safetensors").read_bytes())["W"]
    wrong = (
        {"W": W.T.copy()},
        {"W": W.reshape(-1)},
        {"V": W},
        {"W": W[:, :-2].copy()},
        {"W": W.view(np.int64)},
        {"W": W, "R": np.zeros((1, 1))},
        {},
    )
    for tensors in wrong:
        forge_weights(folder, save_tensors(tensors))
        found = verify(folder)
        assert status(found, "weights") == "failed"
        assert not found.verified


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(folder, value):
    W = load_tensors((folder / "weights.safetensors").read_bytes())["W"].copy()
    W[1, 2] = value
    forge_weights(folder, save_tensors({"W": W}))
    assert "not finite" in sentence(verify(folder), "weights")


def test_weights_that_overflow(folder):
    W = load_tensors((folder / "weights.safetensors").read_bytes())["W"].copy()
    W[:, 0] = 1e200
    forge_weights(folder, save_tensors({"W": W}))
    found = verify(folder)
    assert status(found, "loss") == "failed"
    assert not found.verified


def test_other_weights_that_fit_nothing(folder):
    W = load_tensors((folder / "weights.safetensors").read_bytes())["W"]
    forge_weights(folder, save_tensors({"W": 0.5 * W}))
    found = verify(folder)
    assert status(found, "weights") == "passed"
    assert status(found, "loss") == "failed"


def test_a_liar_who_measured_well_still_misses_the_labels(folder, made):
    """Honest numbers of weights that fit nothing: only the labels fail."""
    arrays = load(str(made / "rows.npz"))
    W = np.zeros_like(load_tensors((folder / "weights.safetensors").read_bytes())["W"])
    forge_weights(folder, save_tensors({"W": W}))
    y = arrays.labels.numpy().astype(float)
    norm = float(np.abs(np.linalg.eigvalsh((arrays.X.numpy().T * -y) @ arrays.X.numpy() / len(y))).max())
    lower = json.loads((folder / "certificate.json").read_bytes())["sigma_min"]["lower"]
    forge(
        folder,
        loss=float((y**2).sum() / (4 * len(y))),
        max_residual=float(y.max()),
        curvature_norm=norm,
        lambda_min=-norm,
        bound=14 * 7 * norm**2 / (4 * lower**2),
    )
    found = verify(folder)
    assert [check.name for check in found.checks if check.status == "failed"] == ["labels"]
    assert "row 2" in sentence(found, "labels")


HEADERS = {
    "length beyond the file": struct.pack("<Q", 2**62),
    "offsets beyond the file": b'{"W":{"dtype":"F64","shape":[7,16],"data_offsets":[0,99999999]}}',
    "a shape that overflows": b'{"W":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,896]}}',
    "a dtype that is none": b'{"W":{"dtype":"PICKLE","shape":[7,16],"data_offsets":[0,896]}}',
    "not JSON": b"\x80\x04\x95" + b"x" * 60,
}


@pytest.mark.parametrize("kind", HEADERS)
def test_hostile_headers(folder, kind):
    size = len((folder / "weights.safetensors").read_bytes())
    header = HEADERS[kind]
    content = header if len(header) == 8 else struct.pack("<Q", len(header)) + header
    forge_weights(folder, content.ljust(size, b"\0"))
    found = verify(folder)
    assert status(found, "weights") == "failed"


class Bomb:
    def __reduce__(self):
        return (Path("exploded").touch, ())


def test_nothing_is_unpickled(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    size = len((folder / "weights.safetensors").read_bytes())
    forge_weights(folder, pickle.dumps(Bomb()).ljust(size, b"\0"))
    assert status(verify(folder), "weights") == "failed"
    assert not (tmp_path / "exploded").exists()


def test_a_bound_that_does_not_fit_into_memory_is_left_unchecked(folder, monkeypatch):
    monkeypatch.setattr(verify_module, "floor_bytes", lambda n, k: 2**60)
    found = verify(folder)
    assert status(found, "sigma_min") == "skipped"
    assert "not checked" in sentence(found, "sigma_min")
    assert found.verified


def test_it_shares_nothing_with_the_trainer():
    package = Path(widenet.memorise.__file__).parent
    own = {"widenet.memorise.claim", "widenet.memorise.recheck", "widenet.memorise.recheck_sigma"}
    allowed = own | {"widenet.data", "widenet.errors"}
    for name in ("verify", *(module.rpartition(".")[2] for module in own)):
        tree = ast.parse((package / f"{name}.py").read_text())
        imported = {
            module
            for node in ast.walk(tree)
            for module in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert {module for module in imported if module.startswith("widenet")} <= allowed
        assert not imported & {"torch", "pickle", "safetensors.torch"}


@pytest.mark.parametrize("n", [3, 40, 300])
def test_the_floor_is_proved_right_below_the_smallest_singular_value(n):
    rng = np.random.default_rng(n)
    k = max(4, int(2 * n**0.5))
    Z = rng.normal(size=(n, k))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    sigma = np.linalg.svd(np.stack([np.kron(z, z) for z in Z]), compute_uv=False)[-1]
    below, above = singular_floor(Z, 0.999 * sigma), singular_floor(Z, 1.001 * sigma)
    assert below.proved
    assert below.value == pytest.approx(sigma, rel=1e-6)
    assert not above.proved
    assert n == 3 or block_width(n) < n


def test_the_floor_of_equal_rows_is_nothing():
    Z = np.random.default_rng(0).normal(size=(50, 20))
    Z[7] = Z[3]
    assert not singular_floor(Z, 1e-12).proved
    Z[7] += 1e-9
    assert not singular_floor(Z, 1e-12).proved  # true, but beyond what float64 can prove


def test_a_factorisation_that_ends_proves_its_floor_in_exact_arithmetic():
    """Nearly singular: whatever is proved must be true of the exact matrix of these rows."""
    import mpmath

    rng = np.random.default_rng(1)
    Z = rng.normal(size=(8, 5))
    for gap in (1e-3, 1e-5, 1e-6, 1e-7):
        Z[1] = Z[0] + gap * rng.normal(size=5)
        with mpmath.workdps(60):
            rows = mpmath.matrix(Z.tolist())
            gram = (rows * rows.T).apply(lambda value: value**2)
            exact = float(mpmath.sqrt(mpmath.eigsy(gram, eigvals_only=True)[0]))
        for share in (0.5, 0.99, 1.01):
            if singular_floor(Z, share * exact).proved:
                assert share < 1
    assert singular_floor(rng.normal(size=(8, 5)), 1e-3).proved


@pytest.mark.parametrize("is_deep", [False, True])
def test_rounding_of_a_fit_covers_exact_arithmetic(is_deep):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 4)), rng.normal(size=9)
    R = rng.normal(size=(5, 4)) if is_deep else None
    net = Net(
        100 * rng.normal(size=(5 if is_deep else 4, 12)), R, 3 if is_deep else 1, 0.25 if is_deep else 1.0
    )
    fit = fit_of(net, X, features(net, X), y)
    for j, row in enumerate(X):
        x = [Fraction(value) for value in row]
        z = x
        if R is not None:
            z = [Fraction(0.25) * sum(Fraction(a) * b for a, b in zip(r, x, strict=True)) ** 3 for r in R]
        squares = [sum(Fraction(a) * b for a, b in zip(w, z, strict=True)) ** 2 for w in net.W.T]
        exact = sum(squares[:6]) - sum(squares[6:]) - Fraction(y[j])
        error = abs(float(Fraction(fit.residuals[j]) - exact))
        assert error <= fit.rounding[j]
        assert fit.rounding[j] < 1e-6 * abs(fit.residuals[j])


def test_distinct_rows_up_to_sign():
    X = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 3.0], [-0.0, -3.0], [1.0, 2.0], [0.0, 0.0], [-0.0, 0.0]])
    assert distinct_rows(X).tolist() == [0, 2, 5]
