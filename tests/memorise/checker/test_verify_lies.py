"""Certificates of a liar, with a digest and hashes that belong to them."""

import hashlib

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

from widenet.data import load
from widenet.memorise.checker.claim import RefutedError, parse_claim

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
    "names of the classes": {"data__classes_sha256": hashlib.sha256(b'["a", "c", "b"]').hexdigest()},
    "negative noise": {"data__noise": -0.01},
    "preparation": {"data__prepare": "unit"},
    "no such preparation": {"data__prepare": "magic"},
    "not reproduced": {"labels_reproduced": False},
    "text for a number": {"loss": "0"},
    "truth for a number": {"n": True},
    "a number for an object": {"sigma_min": 3},
    "a statement that nobody checks": {"accuracy": 1.0},
    "another one inside": {"data__owner": "me"},
    "schema": {"schema": "widenet/certificate/3"},
    "an earlier schema": {"schema": "widenet/certificate/1"},
    "columns that are no names": {"data__drop": [1]},
    "columns as text": {"data__keep": "a"},
    "a huge number of rows": {"n": 10**30},
    "huge layers": {"d": 2**40, "k": 2**40, "r": 2**41 + 2, "parameters": 2**40 * (2**41 + 2)},
    "huge and allowed": {"k": 2**20, "d": 2**20, "r": 2**21 + 2, "parameters": 2**20 * (2**21 + 2)},
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_with_a_digest_that_belongs_to_them(folder, lie):
    folder.forge(**LIES[lie])
    found = folder.verify()
    assert not found.verified
    assert all(check.sentence and "Traceback" not in check.sentence for check in found.checks)


def test_a_missing_field(folder):
    record = folder.record()
    for name in record:
        if name not in ("digest", "version"):
            folder.sign({key: value for key, value in record.items() if key != name})
            with pytest.raises(RefutedError):
                parse_claim(folder.certificate.read_bytes())


def test_wrong_shapes_and_kinds_of_weights(folder):
    W = folder.neurons()
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
        folder.forge_weights(save_tensors(tensors))
        found = folder.verify()
        assert found.status("weights") == "failed"
        assert not found.verified


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(folder, value):
    W = folder.neurons()
    W[1, 2] = value
    folder.forge_weights(save_tensors({"W": W}))
    assert "not finite" in folder.verify().sentence("weights")


def test_weights_that_overflow(folder):
    W = folder.neurons()
    W[:, 0] = 1e200
    folder.forge_weights(save_tensors({"W": W}))
    found = folder.verify()
    assert found.status("loss") == "failed"
    assert not found.verified


def test_other_weights_that_fit_nothing(folder):
    W = folder.neurons()
    folder.forge_weights(save_tensors({"W": 0.5 * W}))
    found = folder.verify()
    assert found.status("weights") == "passed"
    assert found.status("loss") == "failed"


def test_a_liar_who_measured_well_still_misses_the_labels(folder, made):
    """Honest numbers of weights that fit nothing: only the labels fail."""
    arrays = load(str(made / "rows.npz"))
    W = np.zeros_like(folder.neurons())
    folder.forge_weights(save_tensors({"W": W}))
    y = arrays.labels.numpy().astype(float)
    norm = float(np.abs(np.linalg.eigvalsh((arrays.X.numpy().T * -y) @ arrays.X.numpy() / len(y))).max())
    lower = folder.record()["sigma_min"]["lower"]
    folder.forge(
        loss=float((y**2).sum() / (4 * len(y))),
        max_residual=float(y.max()),
        curvature_norm=norm,
        lambda_min=-norm,
        bound=14 * 7 * norm**2 / (4 * lower**2),
    )
    found = folder.verify()
    assert [check.name for check in found.checks if check.status.value == "failed"] == ["labels"]
    assert "row 2" in found.sentence("labels")


@pytest.mark.parametrize(("impute", "verified"), [(False, True), (True, False)])
def test_a_certificate_of_the_earlier_schema(folder, impute, verified):
    """It has `impute` in place of lists of columns."""
    record = folder.record()
    lists = ("drop", "keep", "categorical")
    data = {name: value for name, value in record["data"].items() if name not in lists}
    folder.sign(record | {"schema": "widenet/certificate/1", "data": data | {"impute": impute}})
    assert folder.verify().verified is verified


def hidden_behind(W: np.ndarray, size: float) -> np.ndarray:
    """The weights with a huge neuron in both halves, which cancel in every output.

    Each replaces one that is left out, so that the outputs are those of a net that misses its targets.
    """
    W, huge = W.copy(), np.zeros(len(W))
    huge[:] = size / np.sqrt(len(W))
    W[:, 0] = W[:, -1] = huge
    return W


@pytest.mark.parametrize("size", [1e3, 8e5, 1e8, 1e12])
def test_huge_neurons_that_cancel_hide_nothing(folder, size):
    """They used to inflate what rounding was allowed, until any claim of a perfect fit passed."""
    folder.forge_weights(save_tensors({"W": hidden_behind(folder.neurons(), size)}))
    lower = folder.record()["sigma_min"]["lower"]
    assert lower > 0
    folder.forge(loss=0.0, max_residual=0.0, curvature_norm=0.0, lambda_min=-0.0, bound=0.0)
    found = folder.verify()
    assert found.status("loss") in ("failed", "undecided")
    assert not found.verified
    if size <= 8e5:
        assert found.status("loss") == "failed"  # extended precision sees through it


def test_a_claim_a_little_off_is_refuted(folder):
    """By more than a millionth of what the certificate allows residuals to be."""
    residual = folder.record()["max_residual"]
    folder.forge(max_residual=residual + 1e-6)
    assert folder.verify().status("loss") == "failed"
    folder.forge(max_residual=residual + 1e-8)
    assert folder.verify().verified
