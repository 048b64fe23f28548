"""What a certificate says, against brute force: dense tensors and autograd."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load as load_tensors

from widenet.data import load
from widenet.memorise.certificate import (
    canonical,
    certificate_bytes,
    measure_fit,
    pack_weights,
    tensor_sha256,
)
from widenet.memorise.conditions import conditions_of
from widenet.memorise.problem import SquaresProblem, perturbed_inputs, problem_of
from widenet.memorise.run import run_memorise
from widenet.memorise.settings import MemoriseSettings
from widenet.report.memorise import sentences


def table(folder: Path, n: int = 12, d: int = 6, *, numbers: bool = False):
    """A data set of n random rows from a file, with classes or with numbers as targets."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=n) if numbers else np.array(list("abc"))[np.arange(n) % 3]
    np.savez(folder / "rows.npz", X=rng.normal(size=(n, d)), y=y)
    return load(str(folder / "rows.npz"), prepare="unit")


def certificate_of(dataset, **settings):
    done = run_memorise(dataset, MemoriseSettings(**settings))
    return json.loads(done.certificate), load_tensors(done.weights), done


def test_every_number_by_brute_force(tmp_path):
    dataset = table(tmp_path)
    record, tensors, _ = certificate_of(dataset, layers=2)
    X, W = dataset.X.numpy(), torch.from_numpy(tensors["W"]).requires_grad_()
    y = dataset.labels.to(torch.float64)
    n, d = X.shape
    a = torch.cat([torch.ones(W.shape[1] // 2), -torch.ones(W.shape[1] // 2)]).to(torch.float64)

    def f(flat):
        delta = ((dataset.X @ flat.reshape(W.shape)) ** 2) @ a - y
        return (delta**2).sum() / (4 * n)

    flat = W.detach().flatten()
    hessian = torch.autograd.functional.hessian(f, flat)
    tensor_square = np.stack([np.kron(x, x) for x in X])
    sigma = np.linalg.svd(tensor_square, compute_uv=False)[-1]
    assert (record["n"], record["d"], record["k"], record["r"], record["layers"]) == (n, d, d, 2 * d + 2, 2)
    assert record["parameters"] == d * (2 * d + 2)
    assert record["loss"] == pytest.approx(float(f(flat)), abs=1e-24)
    assert record["lambda_min"] == pytest.approx(float(torch.linalg.eigvalsh(hessian)[0]), abs=1e-12)
    assert record["sigma_min"]["value"] == pytest.approx(sigma, rel=1e-3)
    assert 0.9 * sigma < record["sigma_min"]["lower"] <= sigma
    bound = n * d * record["curvature_norm"] ** 2 / (4 * record["sigma_min"]["lower"] ** 2)
    assert record["bound"] == pytest.approx(bound, rel=1e-12)
    assert record["holds"] is True
    assert record["labels_reproduced"] is True


def test_lemmas_3_and_4_away_from_a_minimum(tmp_path):
    """At weights that fit nothing λ_min is far from 0, and the numbers of a fit still agree with autograd."""
    dataset = table(tmp_path, n=8, d=4)
    problem = problem_of(dataset, layers=2)
    W = 0.3 * torch.randn(4, problem.r, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    fit = measure_fit(problem, dataset.X, W, conditions_of(dataset, problem), is_classes=True)
    a = torch.cat([torch.ones(problem.r // 2), -torch.ones(problem.r // 2)]).to(torch.float64)

    def f(flat):
        delta = ((dataset.X @ flat.reshape(W.shape)) ** 2) @ a - problem.y
        return (delta**2).sum() / (4 * len(delta))

    least = torch.linalg.eigvalsh(torch.autograd.functional.hessian(f, W.flatten()))[0]
    assert float(least) < -0.01
    assert fit.landscape.lambda_min == pytest.approx(float(least), rel=1e-9)
    assert fit.landscape.holds
    assert not fit.labels_reproduced


def test_equal_runs_have_equal_certificates_and_times_are_in_none(tmp_path):
    dataset = table(tmp_path, n=40, d=5)
    runs = [run_memorise(dataset, MemoriseSettings(seed=3, perturb=0.01)) for _ in range(2)]
    assert runs[0].certificate == runs[1].certificate
    assert runs[0].weights == runs[1].weights
    assert runs[0].seconds != runs[1].seconds
    assert b"second" not in runs[0].certificate
    other = run_memorise(dataset, MemoriseSettings(seed=4, perturb=0.01))
    assert other.certificate != runs[0].certificate


def test_hashes_and_digest_as_the_documentation_tells_them(tmp_path):
    dataset = table(tmp_path)
    done = run_memorise(dataset, MemoriseSettings(perturb=0.02, seed=5))
    record = json.loads(done.certificate)
    draws = np.random.Generator(np.random.PCG64(5)).standard_normal(dataset.X.shape)
    X = dataset.X.numpy() + 0.02 * draws
    assert (
        record["data"]["inputs_sha256"] == hashlib.sha256(b"(12, 6)" + X.astype("<f8").tobytes()).hexdigest()
    )
    y = dataset.labels.numpy().astype("<f8")
    assert record["data"]["targets_sha256"] == hashlib.sha256(b"(12,)" + y.tobytes()).hexdigest()
    assert record["data"]["classes_sha256"] == hashlib.sha256(b'["a", "b", "c"]').hexdigest()
    file = (tmp_path / "rows.npz").read_bytes()
    assert record["data"]["file_sha256"] == hashlib.sha256(file).hexdigest()
    assert record["data"]["source"] == str(tmp_path / "rows.npz")
    assert (record["data"]["target"], record["data"]["prepare"]) == (None, "unit")
    assert (record["data"]["drop"], record["data"]["keep"], record["data"]["categorical"]) == ([], [], [])
    assert record["data"]["noise"] == 0.02
    assert record["network"]["weights_sha256"] == hashlib.sha256(done.weights).hexdigest()
    digest = record.pop("digest")
    plain = (json.dumps(record, indent=2, sort_keys=True) + "\n").encode()
    assert digest == hashlib.sha256(plain).hexdigest()


def test_numbers_are_reproduced_to_a_thousandth_of_their_spread(tmp_path):
    dataset = table(tmp_path, numbers=True)
    record, _, done = certificate_of(dataset)
    assert record["tolerance"] == pytest.approx(1e-3)
    assert record["max_residual"] < 1e-9
    assert "to 0.001" in sentences(done)[0]


def test_no_certificate_for_weights_that_miss_a_target(tmp_path):
    dataset = table(tmp_path)
    problem = problem_of(dataset)
    conditions = conditions_of(dataset, problem)
    W = torch.zeros(problem.k, problem.r, dtype=torch.float64)
    fit = measure_fit(problem, dataset.X, W, conditions, is_classes=True)
    with pytest.raises(ValueError, match="miss"):
        certificate_bytes(problem, dataset.X, conditions, fit, dataset, b"")


def test_rounding_counts_against_a_label(tmp_path):
    """Weights so large that float64 cannot tell what their outputs are fit nothing for certain."""
    dataset = table(tmp_path)
    problem = problem_of(dataset, layers=2)
    conditions = conditions_of(dataset, problem)
    done = run_memorise(dataset, MemoriseSettings(layers=2))
    W = torch.from_numpy(load_tensors(done.weights)["W"].copy())
    half = problem.r // 2
    W[:, half - 1] = W[:, -1] = 1e7  # cancel each other in exact arithmetic
    fit = measure_fit(problem, dataset.X, W, conditions, is_classes=True)
    assert fit.rounding > 0.5
    assert not fit.labels_reproduced


def test_weights_of_three_layers_have_their_random_layer(tmp_path):
    dataset = table(tmp_path, n=40, d=4)
    problem = problem_of(dataset, layers=3)
    tensors = load_tensors(pack_weights(problem, torch.zeros(problem.k, problem.r, dtype=torch.float64)))
    assert {name: tensor.shape for name, tensor in tensors.items()} == {
        "W": (problem.k, problem.r),
        "R": (problem.k, 4),
    }
    np.testing.assert_array_equal(tensors["R"], problem.layer.R.numpy())


def test_repeated_rows_count_once():
    """Two rows twice each: σ_min is that of the two, and Lemma 4 holds all the same."""
    dataset = load("digits")
    rows = torch.tensor([0, 1, 2, 0, 1])
    problem = SquaresProblem(
        dataset.X[rows], dataset.labels[rows].double(), 2 * dataset.d + 2, 2, None, 0.0, 0
    )
    part = type(dataset)(**{**dataset.__dict__, "X": dataset.X[rows], "labels": dataset.labels[rows]})
    conditions = conditions_of(part, problem)
    assert conditions.num_points == 3
    assert conditions.sigma_min.lower > 0.01
    W = torch.randn(dataset.d, problem.r, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert measure_fit(problem, part.X, W, conditions, is_classes=True).landscape.holds


def test_canonical_is_ordered_and_strict():
    assert canonical({"b": 1, "a": [0.1]}) == b'{\n  "a": [\n    0.1\n  ],\n  "b": 1\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        canonical({"a": float("nan")})


def test_hash_depends_on_the_shape_and_on_every_bit():
    values = torch.arange(6, dtype=torch.float64)
    assert tensor_sha256(values) != tensor_sha256(values.reshape(2, 3))
    changed = values.clone()
    changed[5] = np.nextafter(5.0, 6.0)
    assert tensor_sha256(values) != tensor_sha256(changed)
    assert tensor_sha256(values.reshape(2, 3)) == tensor_sha256(values.reshape(3, 2).reshape(2, 3))
    transposed = values.reshape(3, 2).T
    assert tensor_sha256(transposed) == tensor_sha256(transposed.contiguous())
    assert perturbed_inputs(transposed, 0.0, 0) is transposed
