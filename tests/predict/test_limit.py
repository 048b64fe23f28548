"""The end of training in the limit of infinite width, against descent itself and known values."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data import Sphere, held_out, load
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import draw_fine_grained
from widenet.predict.limit import limit_errors
from widenet.training.descent import UnseenRows, descend

H_INFINITY = kernel_by_name("relu2-hidden")


def closed_form(X, Z) -> np.ndarray:
    """H∞ as equation (3) has it."""
    cosines = np.clip(X.numpy() @ Z.numpy().T, -1, 1)
    return cosines * (math.pi - np.arccos(cosines)) / (2 * math.pi)


@pytest.fixture(name="rows")
def training_and_unseen(generator):
    """30 rows with two columns of labels, and 12 to be judged on."""
    X, X_unseen = (Sphere(5).draw(n, generator=generator) for n in (30, 12))
    Y, Y_unseen = (torch.stack([Z[:, 0].sign(), (Z[:, 1] * Z[:, 2]).sign()], dim=1) for Z in (X, X_unseen))
    return X, Y, X_unseen, Y_unseen


def test_errors_are_those_of_the_linear_recursion(rows):
    """ũ(k+1) = ũ(k) − ηH(ũ(k) − y) on training rows (7), and with their k(x, x_i) for H on others."""
    X, Y, X_unseen, Y_unseen = rows
    H, across = closed_form(X, X), closed_form(X_unseen, X)
    np.fill_diagonal(H, 0.5)
    eta, weights = 1 / np.linalg.eigvalsh(H)[-1], np.zeros((30, 2))
    for _ in range(20_000):
        weights += eta * (Y.numpy() - H @ weights)
    u = across @ weights
    found = limit_errors(H_INFINITY, *rows)
    expected = np.abs(Y_unseen.numpy() - u).mean(0)
    assert_close(found.l1_errors, torch.from_numpy(expected), rtol=1e-6, atol=0)
    assert found.misclassified.tolist() == (np.sign(u) != Y_unseen.numpy()).mean(0).tolist()
    complexities = [math.sqrt(2 * y @ np.linalg.solve(H, y) / 30) for y in Y.numpy().T]
    assert found.complexities.tolist() == pytest.approx(complexities)


def test_a_wide_network_comes_close(generator):
    X, X_unseen = (Sphere(5).draw(n, generator=generator) for n in (12, 200))
    y, y_unseen = X[:, 0].sign(), X_unseen[:, 0].sign()
    predicted = limit_errors(H_INFINITY, X, y[:, None], X_unseen, y_unseen[:, None])
    params = draw_fine_grained(20_000, 5, 1.0, generator=generator, antisymmetric=True)
    unseen = UnseenRows(X_unseen, y_unseen)
    run = descend(params, X, y, eta=0.3, num_steps=600, num_records=2, unseen=unseen)
    assert run.residual_norms[-1] < 0.03 * run.residual_norms[0]
    assert float(run.records.l1_errors[-1]) == pytest.approx(float(predicted.l1_errors), rel=0.03)
    assert float(run.records.misclassified[-1]) == pytest.approx(float(predicted.misclassified), abs=0.02)


def test_rows_that_were_seen_have_no_error(rows):
    X, Y, _, _ = rows
    found = limit_errors(H_INFINITY, X, Y, X, Y)
    assert float(found.l1_errors.max()) < 1e-10
    assert found.misclassified.tolist() == [0.0, 0.0]


def test_rows_that_repeat_are_refused(rows):
    X, Y, X_unseen, Y_unseen = rows
    with pytest.raises(InputError, match=r"singular up to rounding.*remove rows that repeat"):
        limit_errors(H_INFINITY, X[[0, 0, 1]], Y[:3], X_unseen, Y_unseen)
    near = X[[0, 0, 1]]
    near[1, 0] += 1e-4
    limit_errors(H_INFINITY, near / near.norm(dim=1, keepdim=True), Y[:3], X_unseen, Y_unseen)


def test_ones_and_zeros_are_told_apart(data_dir):
    train = load("mnist-2")
    test = held_out("mnist-2", train)
    y = test.Y[:200]
    noise = torch.randn(1000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64).sign()
    found = limit_errors(
        H_INFINITY, train.X[:1000], torch.cat([train.Y[:1000], noise], 1), test.X[:200], torch.cat([y, y], 1)
    )
    assert float(found.misclassified[0]) < 0.01
    assert 0.3 < float(found.misclassified[1]) < 0.7
    assert (found.l1_errors >= found.misclassified).all()
    assert float(found.complexities[1]) > 5 * float(found.complexities[0])
