"""The spectrum in full, against its definition and against the kernel's own descent."""

import math

import mpmath
import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data import Sphere
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.curve import descent_loss
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import SpectralMeasure, gauss_measure, lanczos
from widenet.spectrum.projections import label_projections


@pytest.fixture(name="H")
def gram_of_the_sphere(generator) -> torch.Tensor:
    """H∞ of 40 rows on the sphere."""
    return gram_matrix(kernel_by_name("relu2-hidden"), Sphere(6).draw(40, generator=generator))


@pytest.fixture(name="Y")
def random_labels(generator) -> torch.Tensor:
    return torch.randn(40, 3, generator=generator, dtype=torch.float64).sign()


def test_eigenvalues_and_projections_are_those_of_mpmath(H, Y):
    H, Y = H[:20, :20], Y[:20]
    with mpmath.workdps(30):
        values, vectors = mpmath.eigsy(mpmath.matrix(H.tolist()))
        order = sorted(range(20), key=lambda i: -values[i])
        expected = [[float(abs(mpmath.fdot(vectors[:, i], y))) for y in Y.T.tolist()] for i in order]
        eigenvalues = [float(values[i]) for i in order]
    found = label_projections(H, Y)
    assert_close(found.eigenvalues, torch.tensor(eigenvalues, dtype=torch.float64), rtol=1e-10, atol=0)
    assert_close(found.projections, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9)


def test_all_energy_of_the_labels_is_somewhere(H, Y):
    found = label_projections(H, Y)
    assert_close(found.projections.square().sum(0), torch.full((3,), 40.0, dtype=torch.float64))
    inverse = (found.projections.square() / found.eigenvalues[:, None]).sum(0)
    assert_close(inverse, (Y * torch.linalg.solve(H, Y)).sum(0))


def test_the_worst_labels_are_the_slowest_of_all(H, Y):
    found = label_projections(H, Y)
    assert float(found.worst.norm()) == pytest.approx(math.sqrt(40))
    assert_close(H @ found.worst, found.eigenvalues[-1] * found.worst, rtol=0, atol=1e-12)
    eta, steps = 1 / float(found.eigenvalues[0]), torch.tensor([50.0], dtype=torch.float64)
    losses = [
        float(descent_loss(gauss_measure(lanczos(DenseGram(H), y[:, None], num_steps=40)), eta, steps))
        for y in (*Y.T, found.worst)
    ]
    assert losses[-1] == pytest.approx(20 * (1 - eta * float(found.eigenvalues[-1])) ** 100)
    assert losses[-1] > max(losses[:-1])


def test_the_sign_of_the_worst_labels_is_settled(H, Y):
    for n in range(5, 40, 5):
        worst = label_projections(H[:n, :n], Y[:n]).worst
        assert worst.max() == worst.abs().max()


def test_projections_are_a_measure_of_the_labels(H, Y):
    """Their squares are the weights of which Lanczos finds a few."""
    found = label_projections(H, Y[:, :1])
    whole = SpectralMeasure(found.eigenvalues, found.projections.square())
    few = gauss_measure(lanczos(DenseGram(H), Y[:, :1], num_steps=25))
    eta, steps = 1 / float(found.eigenvalues[0]), torch.arange(0.0, 100.0, 7.0, dtype=torch.float64)
    assert_close(descent_loss(whole, eta, steps), descent_loss(few, eta, steps), rtol=1e-6, atol=0)


def test_what_does_not_fit_is_refused(H, Y, monkeypatch):
    with pytest.raises(InputError, match=r"shape \(40, columns\), not \(40,\)"):
        label_projections(H, Y[:, 0])
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 24 * 40**2 - 1)
    with pytest.raises(InputError, match="eigenvectors of 40 rows needs"):
        label_projections(H, Y)
