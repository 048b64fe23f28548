import math

import pytest
import torch

from widenet.testing import unit_rows
from widenet.theory.mild_memorisation.random_layer import (
    largest_smoothed_width,
    lemma2,
    lemma13,
    lemma14,
    lemma18,
    lemma19,
    lemma20,
    proven_sigma,
    smoothed_width,
    symmetric_dimension,
)


def smallest_singular_value(X, order: int) -> float:
    """Of [x^{⊗order}], from its Gram matrix."""
    return math.sqrt(max(0.0, float(torch.linalg.eigvalsh((X @ X.T) ** order)[0])))


def random_layer(X, k: int, p: int, generator) -> torch.Tensor:
    R = torch.randn(k, X.shape[1], generator=generator, dtype=torch.float64)
    return (X @ R.T) ** p


def noisy(X, v: float, generator) -> torch.Tensor:
    return X + math.sqrt(v) * torch.randn(X.shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 99, 100, 101, 10**12 + 1])
def test_width_is_twice_the_root_rounded_up(n):
    half = smoothed_width(n) // 2
    assert smoothed_width(n) % 2 == 0
    assert (half - 1) ** 2 < n <= half**2


@pytest.mark.parametrize(("n", "d", "k", "p"), [(20, 40, 10, 1), (9, 20, 6, 2)])
def test_smallest_singular_value_with_noise_is_above_the_prediction(n, d, k, p, generator):
    """Identical rows before the noise: it alone makes them independent."""
    v, delta = 0.1, 0.1
    X = unit_rows(1, d, generator=generator).expand(n, d)
    predicted = lemma13(n, d, k, p, v, delta)
    assert predicted.applies
    assert lemma2(n, d, k, p, v, delta).applies
    for _ in range(50):
        Z = random_layer(noisy(X, v, generator), k, p, generator)
        assert 0 < predicted.value < smallest_singular_value(Z, 2)


def test_formula_by_hand():
    """D = 40, p = 1: D = 40, D² = 820; k = 10 of C(2,1) = 2 leaves 20, and 55 − 20 = 35 pairs."""
    expected = (20 * 35 / 24**3) ** 0.25 * 0.5 * 0.1**4 / (20**2.5 * 10**4)
    found = lemma13(20, 40, 10, 1, 0.5, 0.1)
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert lemma2(20, 40, 10, 1, 0.5, 0.1).value == pytest.approx(0.5 * 0.1**4 / (20**2.5 * 10**4), rel=1e-12)
    assert largest_smoothed_width(40, 1) == 10
    assert largest_smoothed_width(39, 1) == 9  # 780 / (39 · 2) = 10 leaves nothing
    assert lemma13(16, 39, 9, 1, 0.5, 0.1).value > lemma13(16, 39, 10, 1, 0.5, 0.1).value == 0
    assert lemma13(20, 40, 11, 1, 0.5, 0.1).applies is False
    assert lemma13(20, 40, 8, 1, 0.5, 0.1).applies is False


def test_proof_has_another_power_of_k_than_the_statement():
    """(δ/C(k+1,2))^{2p} of the rows over √C(k+1,2) of Lemma 8, and (δ/n)^{2p} of the columns over √n."""
    n, d, k, p, v, delta = 20, 40, 10, 1, 0.5, 0.1
    rows = (20 / 24**2) ** 0.25 * (delta / 55) ** 2 / math.sqrt(55)
    columns = (35 / 24) ** 0.25 * v * (delta / n) ** 2 / math.sqrt(n)
    found = lemma13(n, d, k, p, v, delta)
    assert found.terms["σ_z by the proof"] == pytest.approx(rows * columns, rel=1e-12)
    assert float(proven_sigma(n, d, k, p, v, delta)) == pytest.approx(rows * columns, rel=1e-12)
    assert any("about k^{4p+1}/2^{2p+1/2}" in sentence for sentence in found.why)
    many, few = lemma13(10**6, 10**5, 2000, 1, v, delta), lemma13(9, 20, 6, 2, v, delta)
    assert many.terms["σ_z by the proof"] / many.value == pytest.approx(2**2.5 / 2000, rel=2e-3)
    assert few.terms["σ_z by the proof"] > few.value


def test_extreme_predictions_go_by_logarithms():
    found = lemma13(60_000, 784, 490, 12, 1e-4, 0.01)
    assert found.value == 0.0
    assert found.log10 < -308


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_are_below_their_bounds(p, generator):
    n, d, k, v, delta = 30, 8, 12, 0.05, 0.1
    X = unit_rows(n, d, generator=generator)
    with_noise, without = lemma14(n, d, k, p, 1.0, v, delta), lemma20(d, k, p, 1.0, delta)
    largest = 0.0
    for _ in range(50):
        Z = random_layer(X, k, p, generator)
        assert float(Z.norm(dim=1).max()) <= without.value
        Z = random_layer(noisy(X, v, generator), k, p, generator)
        largest = max(largest, float(Z.norm(dim=1).max()))
    assert largest <= with_noise.value
    assert with_noise.terms["failure probability"] < delta


def test_no_normal_number_exceeds_the_spread(generator):
    """Lemma 20 rests on k·d normal numbers below 2s, s = √ln(kd/√δ), and says how often they are not."""
    k, d, delta = 2, 2, 0.9
    bound = lemma20(d, k, 1, 1.0, delta)
    draws = torch.randn(200_000, k * d, generator=generator, dtype=torch.float64).abs().max(dim=1).values
    exceeded = float((draws > 2 * bound.terms["s"]).to(torch.float64).mean())
    assert 0 < exceeded <= bound.terms["failure probability"] * 1.05


def symmetric_rows(R) -> torch.Tensor:
    """r^{⊗2} in an orthonormal basis of the symmetric matrices."""
    d = R.shape[1]
    above = torch.triu_indices(d, d, offset=1)
    products = R[:, :, None] * R[:, None, :]
    return torch.cat([R.square(), math.sqrt(2) * products[:, above[0], above[1]]], dim=1)


def test_random_layer_is_well_conditioned_as_predicted(generator):
    d, p, delta = 3, 2, 0.1
    k = 4 * p * symmetric_dimension(d, p)
    predicted = lemma18(d, k, p, delta)
    assert predicted.applies
    for _ in range(50):
        Q = symmetric_rows(torch.randn(k, d, generator=generator, dtype=torch.float64))
        assert 0 < predicted.value < float(torch.linalg.svdvals(Q)[-1])


@pytest.mark.parametrize("p", [1, 2])
def test_smallest_singular_value_without_noise_is_above_the_prediction(p, generator):
    n, d, delta = 8, 4, 0.1
    k = 3 * p * symmetric_dimension(d, p)
    X = unit_rows(n, d, generator=generator)
    sigma = smallest_singular_value(X, 2 * p)
    predicted = lemma19(d, k, p, sigma, delta)
    assert predicted.applies
    assert predicted.value == pytest.approx(lemma18(d, k, p, delta).value ** 2 * sigma)
    for _ in range(30):
        assert 0 < predicted.value < smallest_singular_value(random_layer(X, k, p, generator), 2)


def test_too_few_random_neurons_are_outside():
    assert lemma18(3, 12, 2, 0.1).applies is False
    assert lemma19(3, 12, 2, 1.0, 0.1).value == 0.0
