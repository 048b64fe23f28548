"""The learning curve against refitting, against a known power law, and against all rows of digits."""

import math

import pytest
import torch
from sklearn.datasets import load_diabetes, load_digits
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.names import kernel_by_name
from widenet.predict.learning_curve import (
    ERROR_PRIOR,
    CurvePrior,
    LearningCurve,
    LogCurve,
    extrapolate,
    log_error_curve,
    mistakes,
    predict_learning_curve,
    sampled_share_interval,
    squared_errors,
    subset_sizes,
    unseen_predictions,
    wilson_interval,
)

H = kernel_by_name("relu2-hidden")


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def on_sphere(X: Tensor) -> Tensor:
    return X / X.norm(dim=1, keepdim=True)


def digits() -> tuple[Tensor, Tensor]:
    pixels, labels = load_digits(return_X_y=True)
    return on_sphere(torch.tensor(pixels)), torch.nn.functional.one_hot(torch.tensor(labels)).double()


def noisy_line(n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs on the sphere in five dimensions and the sign of a noisy linear function of them."""
    X = on_sphere(torch.randn(n, 5, generator=seeded(seed), dtype=torch.float64))
    Y = torch.sign(X[:, :1] + 0.2 * torch.randn(n, 1, generator=seeded(seed + 1), dtype=torch.float64))
    return X, Y


class FourierKernel:
    """Σ_k k^-decay cos(k(x - z)) on the circle: eigenvalues known, inputs are angles of shape (n, 1)."""

    name = "fourier"

    def __init__(self, decay: float, num_modes: int = 4096) -> None:
        self.modes = torch.arange(1, num_modes + 1, dtype=torch.float64)
        self.weights = self.modes**-decay

    def features(self, X: Tensor) -> Tensor:
        phases = X * self.modes
        return torch.cat([phases.cos(), phases.sin()], 1) * self.weights.sqrt().repeat(2)

    def tile(self, X: Tensor, Z: Tensor) -> Tensor:
        return self.features(X) @ self.features(Z).T

    def diag(self, X: Tensor) -> Tensor:
        return self.weights.sum().expand(len(X))


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_unseen_predictions_are_those_of_refitting_without_the_row(ridge: float) -> None:
    X, Y = noisy_line(30)
    Y = torch.cat([Y, torch.randn(30, 2, generator=seeded(5), dtype=torch.float64)], 1)
    K, subset = H.tile(X, X), torch.tensor([3, 17, 0, 8, 11, 5, 19, 2])
    predictions = unseen_predictions(K[:20], Y, subset, ridge)
    for i in range(30):
        others = subset[subset != i]
        A = K[others][:, others] + ridge * torch.eye(len(others), dtype=K.dtype)
        torch.testing.assert_close(
            predictions[i], K[i, others] @ torch.linalg.solve(A, Y[others]), rtol=1e-6, atol=1e-7
        )


def test_squared_errors_and_mistakes_by_hand() -> None:
    binary, signs = torch.tensor([[0.5], [-0.1], [0.0]]), torch.tensor([[1.0], [1.0], [-1.0]])
    assert squared_errors(binary, signs).tolist() == pytest.approx([0.25, 1.21, 1.0])
    assert mistakes(binary, signs).tolist() == [0, 1, 1]
    columns, one_hot = torch.tensor([[0.2, 0.1], [0.3, 0.4]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert squared_errors(columns, one_hot).tolist() == pytest.approx([0.65, 0.65])
    assert mistakes(columns, one_hot).tolist() == [0, 1]


def test_subset_sizes() -> None:
    assert subset_sizes(449) == [449, 224, 112, 56, 28]
    assert subset_sizes(10) == [10]
    assert subset_sizes(60000) == [4096, 2048, 1024, 512, 256, 128, 64]


def test_covariance_of_log_errors_is_that_of_resampling_the_rows() -> None:
    rows = torch.randn(400, 3, generator=seeded(), dtype=torch.float64).cumsum(1).square() + 0.5
    curve = log_error_curve({size: rows[:, k][None] for k, size in enumerate((10, 20, 40))})
    draws = torch.randint(400, (4000, 400), generator=seeded(1))
    resampled = torch.cov(rows[draws].mean(1).log().T)
    torch.testing.assert_close(curve.covariance, resampled, rtol=0.2, atol=0)
    torch.testing.assert_close(curve.values, rows.mean(0).log())


def test_extrapolation_is_conditioning_on_simulated_curves() -> None:
    """The same posterior from the sample covariance of half a million simulated random curves."""
    prior = CurvePrior(slope=-0.3, slope_deviation=0.3, drift=0.2, drift_beyond=0.0, roughness=0.05)
    generator, count, steps = seeded(), 500_000, 16
    slope = -0.3 + 0.3 * torch.randn(count, generator=generator, dtype=torch.float64)
    value = 2.0 * torch.randn(count, generator=generator, dtype=torch.float64)
    curves = [value]
    for _ in range(4):  # four doublings, in small steps of the slope's random walk
        for _ in range(steps):
            kick = 0.2 / math.sqrt(steps) * torch.randn(count, generator=generator, dtype=torch.float64)
            value = value + (slope + kick / 2) / steps
            slope = slope + kick
        curves.append(value)
    simulated = torch.stack(curves)
    seen = simulated[:3] + 0.05 * torch.randn(3, count, generator=generator, dtype=torch.float64)
    joint = torch.cov(torch.cat([seen, simulated[4:]]))
    gain = torch.linalg.solve(joint[:3, :3], joint[:3, 3])
    observed = torch.tensor([0.1, -0.4, -0.7], dtype=torch.float64)
    expected = simulated[4].mean() + gain @ (observed - seen.mean(1))

    curve = LogCurve(torch.tensor([50.0, 100.0, 200.0]).double(), observed, torch.zeros(3, 3).double(), 200)
    mean, variance = extrapolate(curve, torch.tensor([800.0]).double(), prior)
    assert float(mean) == pytest.approx(float(expected), abs=0.02)
    assert float(variance) == pytest.approx(float(joint[3, 3] - gain @ joint[:3, 3]), rel=0.05)


def test_extrapolation_continues_a_precisely_known_power_law() -> None:
    sizes = torch.tensor([50.0, 100.0, 200.0, 400.0]).double()
    curve = LogCurve(sizes, (3 * sizes**-0.8).log(), 1e-8 * torch.eye(4).double(), 400)
    future = torch.tensor([800.0, 3200.0]).double()
    mean, variance = extrapolate(curve, future, ERROR_PRIOR)
    torch.testing.assert_close(mean, (3 * future**-0.8).log(), rtol=0, atol=0.03)
    assert 0 < float(variance[0]) < float(variance[1]) < 0.4**2


def test_curve_of_a_kernel_with_known_spectrum_has_the_exponent_of_theory() -> None:
    """Eigenvalues k^-3 and a target of power k^-2 per mode: the error falls as 1/n [bordelon2020spectrum]."""
    kernel = FourierKernel(decay=3.0)
    generator = seeded()
    angles = 2 * math.pi * torch.rand(1024, 1, generator=generator, dtype=torch.float64)
    phases = 2 * math.pi * torch.rand(len(kernel.modes), generator=generator, dtype=torch.float64)
    Y = (torch.cos(angles * kernel.modes + phases) / kernel.modes).sum(1, keepdim=True)
    few = predict_learning_curve(
        kernel, angles[:256], Y[:256], [512, 1024], classification=False, generator=seeded()
    )
    measured = predict_learning_curve(kernel, angles, Y, [2048], classification=False, generator=seeded())
    at = dict(zip(measured.n, measured.error, strict=True))
    assert at[1024] / at[64] == pytest.approx(1 / 16, rel=0.25)
    assert few.error[-1] / few.error[-2] == pytest.approx(1 / 2, rel=0.1)
    assert few.error[-1] == pytest.approx(at[1024], rel=0.25)


@pytest.fixture(scope="module")
def all_digits() -> tuple[float, float]:
    X, Y = digits()
    curve = predict_learning_curve(H, X, Y, [3594], classification=True, generator=seeded())
    where = curve.n.index(1797)
    assert curve.misclassified is not None
    assert curve.measured == (True,) * (where + 1) + (False,)
    return curve.error[where], curve.misclassified[where]


@pytest.mark.parametrize("seed", range(4))
def test_a_quarter_of_digits_predicts_the_error_at_all_rows(
    seed: int, all_digits: tuple[float, float]
) -> None:
    X, Y = digits()
    quarter = torch.randperm(1797, generator=seeded(seed))[:449]
    curve = predict_learning_curve(
        H, X[quarter], Y[quarter], [898, 1797], classification=True, generator=seeded(seed)
    )
    error, misclassified = all_digits
    assert curve.error[-1] == pytest.approx(error, rel=0.25)
    assert curve.error_low[-1] < error < curve.error_high[-1]
    assert curve.misclassified_low is not None
    assert curve.misclassified_high is not None
    assert curve.misclassified_low[-1] <= misclassified <= curve.misclassified_high[-1]
    assert curve.misclassified_high[-1] < 0.05


def test_regression_has_no_misclassified_share() -> None:
    features, target = load_diabetes(return_X_y=True, scaled=False)
    X, y = torch.tensor(features), torch.tensor(target)[:, None]
    X = on_sphere(torch.cat([(X - X.mean(0)) / X.std(0), torch.ones(len(X), 1)], 1))
    Y = (y - y.mean()) / y.std()
    curve = predict_learning_curve(H, X[:110], Y[:110], [442], classification=False, generator=seeded())
    whole = predict_learning_curve(H, X, Y, [884], classification=False, generator=seeded())
    assert curve.misclassified is None
    assert curve.misclassified_low is None
    assert curve.error_low[-1] < whole.error[-2] < curve.error_high[-1]


def points(curve: LearningCurve) -> list[float]:
    assert curve.misclassified is not None
    assert curve.misclassified_low is not None
    assert curve.misclassified_high is not None
    return [
        *curve.error_low,
        *curve.error,
        *curve.error_high,
        *curve.misclassified_low,
        *curve.misclassified,
        *curve.misclassified_high,
    ]


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_few_rows_give_finite_ordered_points(n: int) -> None:
    X, Y = noisy_line(n)
    X[-1] = X[0]  # a row that occurs twice
    curve = predict_learning_curve(H, X, Y, [2 * n, 4 * n], classification=True, generator=seeded())
    assert all(math.isfinite(value) for value in points(curve))
    assert points(curve)[: len(curve.n)] <= list(curve.error) <= list(curve.error_high)
    assert curve.misclassified is not None
    for low, share, high in zip(
        curve.misclassified_low or (), curve.misclassified, curve.misclassified_high or (), strict=True
    ):
        assert 0 <= low <= share <= high <= 1


def test_the_generator_decides() -> None:
    X, Y = noisy_line(120)
    first, again, other = (
        predict_learning_curve(H, X, Y, [240], classification=True, generator=seeded(s)) for s in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_anchor_is_the_point_at_n(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widenet.predict.learning_curve.TRAIN_ROWS", 100)
    X, Y = noisy_line(300)
    anchor = 0.9 * Y
    anchor[:30] = -Y[:30]
    curve = predict_learning_curve(H, X, Y, [600], classification=True, generator=seeded(), anchor=anchor)
    assert curve.n == (25, 50, 100, 300, 600)
    assert curve.error[3] == pytest.approx(0.1 * 4 + 0.9 * 0.01)
    assert curve.misclassified is not None
    assert curve.misclassified[3] == pytest.approx(0.1)


def test_rank_deficient_kernel() -> None:
    X, Y = noisy_line(400)
    curve = predict_learning_curve(
        kernel_by_name("polynomial:degree=1"), X, Y, [800], classification=True, generator=seeded(), ridge=1.0
    )
    assert all(math.isfinite(value) for value in points(curve))


def test_sizes_that_are_measured_and_single_rows_are_refused() -> None:
    X, Y = noisy_line(40)
    with pytest.raises(InputError, match="measured up to 40 rows"):
        predict_learning_curve(H, X, Y, [40], classification=True, generator=seeded())
    with pytest.raises(InputError, match="at least 2 rows"):
        predict_learning_curve(H, X[:1], Y[:1], [4], classification=True, generator=seeded())


def test_intervals_cover_simulated_shares() -> None:
    """95% intervals contain the share that is drawn in about 95% of simulated cases."""
    generator, rate = seeded(), torch.full((20_000,), 0.03, dtype=torch.float64)
    drawn = torch.binomial(torch.full_like(rate, 400), rate, generator=generator) / 400
    low, high = wilson_interval(drawn, 400)
    assert float(((low <= 0.03) & (high >= 0.03)).double().mean()) == pytest.approx(0.95, abs=0.02)
    uncertain = (rate.log() + 0.3 * torch.randn(20_000, generator=generator, dtype=torch.float64)).exp()
    drawn = torch.binomial(torch.full_like(rate, 400), uncertain.clamp_max(1), generator=generator) / 400
    low, high = sampled_share_interval(rate.log(), torch.full_like(rate, 0.09), torch.full_like(rate, 400))
    assert float(((low <= drawn) & (drawn <= high)).double().mean()) == pytest.approx(0.95, abs=0.02)
