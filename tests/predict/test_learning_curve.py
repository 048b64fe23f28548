"""The learning curve against a known power law, held-out rows, twins, and labels that say nothing."""

import math

import pytest
import torch
from sklearn.datasets import load_diabetes, load_digits
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.targets import class_columns
from widenet.kernels.names import kernel_by_name
from widenet.predict.learning_curve import (
    WORTHWHILE,
    Gain,
    LearningCurve,
    constant_error,
    mistakes,
    more_rows_help,
    predict_learning_curve,
    share_intervals,
    squared_errors,
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


def test_squared_errors_and_mistakes_by_hand() -> None:
    binary, signs = torch.tensor([[0.5], [-0.1], [0.0]]), torch.tensor([[1.0], [1.0], [-1.0]])
    assert squared_errors(binary, signs).tolist() == pytest.approx([0.25, 1.21, 1.0])
    assert mistakes(binary, signs).tolist() == [0, 1, 1]
    columns, one_hot = torch.tensor([[0.2, 0.1], [0.3, 0.4]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert squared_errors(columns, one_hot).tolist() == pytest.approx([0.65, 0.65])
    assert mistakes(columns, one_hot).tolist() == [0, 1]


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
    assert few.error[-1] / few.error[-2] == pytest.approx(1 / 2, rel=0.25)
    assert few.error_low[-1] < at[1024] < few.error_high[-1]


@pytest.mark.parametrize("seed", range(4))
def test_a_quarter_of_digits_predicts_the_error_on_held_out_rows(seed: int) -> None:
    X, Y = digits()
    order, ridge = torch.randperm(1797, generator=seeded(seed)), 0.01
    fitted, test, quarter = order[:1200], order[1200:], order[:300]
    curve = predict_learning_curve(
        H, X[quarter], Y[quarter], [600, 1200], classification=True, generator=seeded(seed), ridge=ridge
    )
    K = H.tile(X[fitted], X[fitted]) + ridge * torch.eye(1200, dtype=X.dtype)
    predictions = H.tile(X[test], X[fitted]) @ torch.linalg.solve(K, Y[fitted])
    error = float(squared_errors(predictions, Y[test]).mean())
    wrong = float(mistakes(predictions, Y[test]).mean())
    assert curve.error[-1] == pytest.approx(error, rel=0.25)
    assert curve.error_low[-1] < error < curve.error_high[-1]
    assert curve.misclassified_low is not None
    assert curve.misclassified_high is not None
    assert curve.misclassified_low[-1] <= wrong <= curve.misclassified_high[-1]
    assert curve.misclassified_high[-1] < 0.06
    assert more_rows_help(curve)


INDEPENDENT = {"50/50": (0.5, 0.5), "98/2": (0.98, 0.02), "97/2/1": (0.97, 0.02, 0.01), "numbers": ()}


@pytest.mark.parametrize("kind", INDEPENDENT)
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_targets_that_the_inputs_say_nothing_about_promise_nothing(kind: str, ridge: float) -> None:
    for seed in range(5):
        X, _ = noisy_line(150, seed)
        shares = torch.tensor(INDEPENDENT[kind])
        if len(shares):
            labels = torch.multinomial(shares, 150, replacement=True, generator=seeded(seed))
            Y = class_columns(labels, len(shares))
        else:
            Y = torch.randn(150, 1, generator=seeded(seed + 9), dtype=torch.float64)
        curve = predict_learning_curve(
            H, X, Y, [300], classification=len(shares) > 0, generator=seeded(seed), ridge=ridge
        )
        assert not more_rows_help(curve)


def test_more_rows_help_where_the_gain_is_sure_and_matters() -> None:
    def helps(value: float, low: float, over_constant: float) -> bool:
        gain = Gain(value, low, high=0.5, over_constant=over_constant)
        return more_rows_help(LearningCurve((), (), (), (), (), None, None, None, gain))

    assert helps(0.2, 0.01, 0.5)
    assert not helps(0.2, -0.01, 0.5)  # not sure
    assert not helps(WORTHWHILE - 0.01, 0.05, 0.5)  # sure and small
    assert not helps(0.2, 0.01, 0.0)  # a constant would do as well
    assert not more_rows_help(LearningCurve((), (), (), (), (), None, None, None))


def test_gain_is_read_off_the_curve() -> None:
    X, Y = digits()
    rows = torch.randperm(1797, generator=seeded())[:400]
    curve = predict_learning_curve(H, X[rows], Y[rows], [800], classification=False, generator=seeded())
    assert curve.gain is not None
    assert curve.gain.low < curve.gain.value < curve.gain.high < 1
    assert curve.gain.value == pytest.approx(1 - curve.error[-1] / curve.error[-2], abs=0.05)
    constant = constant_error(Y[rows], classification=False)
    assert curve.gain.over_constant == pytest.approx(1 - curve.error_high[-1] / constant)
    # The two intervals at 400 and 800 rows overlap; that of the change does not contain none.
    assert curve.gain.low > 0.2


def test_the_best_constant() -> None:
    signs = torch.tensor([[1.0], [-1.0], [-1.0], [-1.0]], dtype=torch.float64)
    assert constant_error(signs, classification=True) == constant_error(-signs, classification=True) == 0.25
    one_hot = class_columns(torch.tensor([0, 1, 1, 2, 1]), 3)
    assert constant_error(one_hot, classification=True) == pytest.approx(0.4)
    numbers = torch.tensor([[1.0, 0.0], [3.0, 0.0]], dtype=torch.float64)
    assert constant_error(numbers, classification=False) == 1.0


def test_twins_do_not_help_each_other() -> None:
    """Every row twice, labels drawn at random for each pair: who peeps at the twin makes no mistake."""
    X, _ = noisy_line(100)
    Y = torch.sign(torch.randn(100, 1, generator=seeded(3), dtype=torch.float64))
    twice, place = torch.cat([X, X]), torch.arange(100).repeat(2)

    def last_share(place: Tensor | None) -> float:
        curve = predict_learning_curve(
            H, twice, Y.repeat(2, 1), [400], classification=True, generator=seeded(), place=place
        )
        assert curve.misclassified is not None
        return curve.misclassified[curve.n.index(200)]

    once = predict_learning_curve(H, X, Y, [200], classification=True, generator=seeded())
    assert once.misclassified is not None
    assert last_share(place) == pytest.approx(once.misclassified[once.n.index(100)])
    assert last_share(place) > 0.3
    assert last_share(None) < 0.01


def test_twins_count_once_in_the_interval_of_a_share() -> None:
    wrong = (torch.rand(1, 80, generator=seeded(), dtype=torch.float64) < 0.2).double()
    once = share_intervals({10: wrong}, torch.arange(80))
    twice = share_intervals({10: wrong.repeat(1, 2)}, torch.arange(80).repeat(2))
    torch.testing.assert_close(once, twice, rtol=0.01, atol=0)


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
    monkeypatch.setattr("widenet.predict.subsets.TRAIN_ROWS", 100)
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
    """95% intervals contain the true share in about 95% of simulated cases."""
    rate = torch.full((20_000,), 0.03, dtype=torch.float64)
    drawn = torch.binomial(torch.full_like(rate, 400), rate, generator=seeded()) / 400
    low, high = wilson_interval(drawn, torch.full_like(rate, 400))
    assert float(((low <= 0.03) & (high >= 0.03)).double().mean()) == pytest.approx(0.95, abs=0.02)
