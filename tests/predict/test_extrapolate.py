"""Extrapolated curves against enumeration, simulation and known laws."""

import math

import pytest
import torch
from torch import Tensor

from widenet.predict.extrapolate import (
    ERROR_PRIOR,
    KAPPA_SCORES,
    LOG_KAPPA,
    LOG_KAPPA_DEVIATION,
    CurvePrior,
    LogCurve,
    Mixture,
    curve_design,
    fit_curve,
    log_error_curve,
    log_share_curve,
)

DOUBLINGS = torch.tensor([1.0, 2.0], dtype=torch.float64)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=seeded(seed), dtype=torch.float64)


def precise(sizes: Tensor, errors: Tensor) -> LogCurve:
    return LogCurve(sizes, errors.log(), 1e-8 * torch.eye(len(sizes), dtype=torch.float64))


def test_covariance_is_that_of_resampling_the_points() -> None:
    """Rows at one point are drawn together."""
    place = torch.arange(300).repeat_interleave(2)[:400]  # 100 pairs of which both are kept, and more
    shared = normal(300, 3, seed=0)[place]
    rows = (shared + normal(400, 3, seed=1)).cumsum(1).square() + 0.5
    curve = log_error_curve({size: rows[:, k][None] for k, size in enumerate((10, 20, 40))}, place)
    num_points = int(place.max()) + 1
    sums = torch.zeros(num_points, 3, dtype=torch.float64).index_add(0, place, rows)
    draws = torch.randint(num_points, (4000, num_points), generator=seeded(2))
    resampled = torch.cov((sums[draws].sum(1) / 400).log().T)
    torch.testing.assert_close(curve.covariance, resampled, rtol=0.2, atol=0)
    torch.testing.assert_close(curve.values, rows.mean(0).log())


def test_draws_of_subsets_add_to_the_variance() -> None:
    rows = normal(1, 500, seed=0).square() + 1
    shifted = rows * torch.tensor([[0.9], [1.1]], dtype=torch.float64)
    place = torch.arange(500)
    alone = log_error_curve({50: rows}, place).covariance
    drawn = log_error_curve({50: shifted}, place).covariance
    assert float(drawn - alone) == pytest.approx(0.02 / 2, rel=1e-6)  # variance of 0.9 and 1.1, over two


def test_no_mistake_is_not_taken_for_never() -> None:
    curve = log_share_curve({50: torch.zeros(1, 99, dtype=torch.float64)}, torch.arange(99))
    assert float(curve.values.exp()) == pytest.approx(0.005)
    assert float(curve.covariance.sqrt()) == pytest.approx(math.sqrt(2))


def test_design_is_the_sum_of_geometric_steps() -> None:
    """From h to h + 1 the logarithm changes κ^h times as much as from 0 to 1; at κ = 1 always alike."""
    design = curve_design(
        torch.tensor([math.log(0.5), 0.0], dtype=torch.float64), torch.arange(-2.0, 3).double()
    )
    steps = design[:, :, 1].diff(dim=1)
    torch.testing.assert_close(steps[0] / steps[0, 2], torch.tensor([4, 2, 1, 0.5]).double())
    torch.testing.assert_close(steps[1], torch.ones(4).double())
    assert design[:, 2, 1].abs().max() == 0
    assert bool((design[:, :, 0] == 1).all())


def test_quantiles_of_a_mixture_are_those_of_its_draws() -> None:
    mixture = Mixture(
        torch.tensor([0.3, 0.7]).double(),
        torch.tensor([[0.0, 5.0], [2.0, -1.0]]).double(),
        torch.tensor([[1.0, 0.1], [0.2, 3.0]]).double(),
    )
    chosen = (torch.rand(400_000, generator=seeded(), dtype=torch.float64) > 0.3).long()
    draws = mixture.means[chosen] + mixture.deviations[chosen] * normal(400_000, 2, seed=1)
    for probability in (0.025, 0.5, 0.975):
        expected = draws.sort(0).values[int(probability * 400_000)]
        torch.testing.assert_close(mixture.quantile(probability), expected, atol=0.03, rtol=0)


def test_posterior_is_that_of_enumerating_all_curves() -> None:
    """Level, slope and κ on a dense grid, each curve weighted by prior times likelihood."""
    prior = CurvePrior(slope=-0.3, slope_deviation=0.2, roughness=0.03)
    sizes = torch.tensor([50.0, 100.0, 200.0, 400.0]).double()
    values = torch.tensor([0.1, -0.2, -0.45, -0.6]).double()
    covariance = 0.01 * torch.ones(4, 4).double() + 0.003 * torch.diag(torch.tensor([4.0, 3, 2, 1]).double())
    level = torch.linspace(-1.5, 0.5, 81).double()[:, None, None]
    slope = torch.linspace(-1.3, 0.7, 161).double()[:, None]
    kappa = (LOG_KAPPA + LOG_KAPPA_DEVIATION * KAPPA_SCORES).exp()

    def curve(doublings: float) -> Tensor:
        return level + slope * (kappa**doublings - 1) / kappa.log()

    off = torch.stack([value - curve(h) for value, h in zip(values, (-3, -2, -1, 0), strict=True)], -1)
    inverse = torch.linalg.inv(covariance + 0.03**2 * torch.eye(4).double())
    log_weight = -(off @ inverse * off).sum(-1) / 2 - KAPPA_SCORES.square() / 2
    weight = (log_weight - ((slope + 0.3) / 0.2).square() / 2).flatten().softmax(0)

    def quantiles(quantity: Tensor) -> Tensor:
        order = quantity.expand_as(log_weight).flatten().sort()
        reached = weight[order.indices].cumsum(0)
        return order.values[torch.searchsorted(reached, torch.tensor([0.025, 0.5, 0.975]).double())]

    posterior = fit_curve(LogCurve(sizes, values, covariance), prior)
    ahead, change = posterior.values(DOUBLINGS).interval(), posterior.changes(DOUBLINGS).interval()
    for index, doublings in enumerate((1, 2)):
        found = torch.stack([end[index] for end in ahead])
        torch.testing.assert_close(found, quantiles(curve(doublings)), atol=0.02, rtol=0)
        found = torch.stack([end[index] for end in change])
        torch.testing.assert_close(found, quantiles(curve(doublings) - level), atol=0.02, rtol=0)
        found = torch.stack([end[index] for end in posterior.changes(DOUBLINGS, since=1.5).interval()])
        expected = quantiles(curve(1.5 + doublings) - curve(1.5))
        torch.testing.assert_close(found, expected, atol=0.02, rtol=0)


@pytest.mark.parametrize(("floor", "power"), [(0.0, 0.8), (0.0, 0.3), (0.1, 0.7), (0.3, 1.0), (1.0, 0.5)])
def test_power_laws_are_continued_to_their_floor(floor: float, power: float) -> None:
    sizes = torch.tensor([32.0, 64, 128, 256, 512]).double()
    future = torch.tensor([1024.0, 2048.0]).double()
    ahead = fit_curve(precise(sizes, floor + 5 * sizes**-power), ERROR_PRIOR).values(DOUBLINGS)
    low, median, high = ahead.interval()
    expected = (floor + 5 * future**-power).log()
    assert abs(float((median - expected)[0])) < 0.04
    assert abs(float((median - expected)[1])) < 0.1
    assert float(low[0]) < float(expected[0]) < float(high[0])
    assert float((high - low)[1]) < 0.5


def test_intervals_cover_and_medians_halve_curves_drawn_from_the_prior() -> None:
    sizes, num_curves = torch.tensor([30.0, 60, 120, 240]).double(), 150
    level_noise, noise = 0.01 * torch.ones(4, 4).double(), 0.001 * torch.eye(4).double()
    slopes = ERROR_PRIOR.slope + ERROR_PRIOR.slope_deviation * normal(num_curves, seed=0)
    log_kappa = LOG_KAPPA + LOG_KAPPA_DEVIATION * normal(num_curves, seed=1)
    errors = torch.linalg.cholesky(level_noise + noise) @ normal(4, num_curves, seed=2)
    errors += ERROR_PRIOR.roughness * normal(4, num_curves, seed=3)
    covered, above = [], []
    for slope, log, error in zip(slopes, log_kappa, errors.T, strict=True):
        bend = torch.expm1(log * torch.arange(-3.0, 3).double()) / log
        posterior = fit_curve(LogCurve(sizes, slope * bend[:4] + error, level_noise + noise), ERROR_PRIOR)
        low, median, high = posterior.values(DOUBLINGS).interval()
        covered.append((low < slope * bend[4:]) & (slope * bend[4:] < high))
        above.append(slope * bend[4:] > median)
    assert float(torch.stack(covered).double().mean()) == pytest.approx(0.95, abs=0.04)
    assert float(torch.stack(above).double().mean()) == pytest.approx(0.5, abs=0.1)
