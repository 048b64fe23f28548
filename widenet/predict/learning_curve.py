"""Rows -> the error that the kernel predictor has on fewer of them, and would have on more.

Up to n the curve is measured: the predictor is fitted on random subsets of n, n/2, n/4, ... rows and judged
on every row without that row's help. Beyond n it is extrapolated. The error of kernel regression falls as a
power of the number of rows where spectrum and target do [bordelon2020spectrum, Section 3], so its logarithm
is taken as a nearly straight line in log2(rows) with a slope that drifts slowly (an integrated Wiener
process), seen at the measured sizes with the sampling covariance of the rows' errors. All sizes are judged on
the same rows: that covariance knows that a few outlying rows lift the whole curve, most where it is lowest,
and the bend that they make is discounted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix

TRAIN_ROWS = 4096  # largest subset that is factorised here
TEST_ROWS = 16384  # most rows that the subsets' predictors are judged on
NUM_HALVINGS = 6
SMALLEST_SUBSET = 24  # fewer rows lie on the steep start of a curve and say little about its end
NUM_SUBSETS = 4  # drawn at the first halving, twice as many at each further one
MAX_SUBSETS = 32
JITTER = 1e-10  # of the mean diagonal: lets rows that occur twice be factorised
Z = 1.96  # normal quantile of 95% intervals


@dataclass(frozen=True)
class CurvePrior:
    """What is believed of a logarithmic curve before it is measured, per doubling of the rows.

    Attributes:
        slope: Expected change of the logarithm at one doubling.
        slope_deviation: Standard deviation of that change between data sets.
        drift: Standard deviation of the slope's change over one doubling, within the measured sizes.
        drift_beyond: The same beyond them, where nothing would reveal a change; it widens the interval only.
        roughness: Standard deviation by which a measured point may lie off the smooth curve.
    """

    slope: float
    slope_deviation: float
    drift: float
    drift_beyond: float
    roughness: float


# Tuned: some sixty settings were tried on random quarters of digits (clean, and 5% or 20% of labels flipped),
# mnist, mnist-2, cifar10-2 and small tables; benchmarks/learning_curve.py judges the choice on other ones.
ERROR_PRIOR = CurvePrior(slope=-0.35, slope_deviation=0.15, drift=0.006, drift_beyond=0.08, roughness=0.01)
# Mistakes fall about as the squared error does, so what is extrapolated is their ratio to it.
RATIO_PRIOR = CurvePrior(slope=-0.05, slope_deviation=0.1, drift=0.01, drift_beyond=0.08, roughness=0.03)
RATIO_SIZES = 2  # the largest sizes, from which the ratio is read: at small ones it is a different one


@dataclass(frozen=True)
class LearningCurve:
    """Errors of the kernel predictor at growing numbers of rows, with 95% intervals.

    The interval of a measured point is for the error on new rows; that of an extrapolated one is for
    what would be measured on as many rows.

    Attributes:
        n: Numbers of rows, ascending.
        measured: True where the error was measured, False where it is extrapolated.
        error: Mean over rows of the squared error, summed over the columns of Y.
        error_low, error_high: Ends of its intervals.
        misclassified: Share of rows whose sign or argmax is wrong; None for regression.
        misclassified_low, misclassified_high: Ends of its intervals; None for regression.
    """

    n: tuple[int, ...]
    measured: tuple[bool, ...]
    error: tuple[float, ...]
    error_low: tuple[float, ...]
    error_high: tuple[float, ...]
    misclassified: tuple[float, ...] | None
    misclassified_low: tuple[float, ...] | None
    misclassified_high: tuple[float, ...] | None


@dataclass(frozen=True)
class LogCurve:
    """Logarithms of a quantity at several sizes, and how far sampling may have moved them."""

    sizes: Tensor  # numbers of rows, ascending, float64, shape (s,)
    values: Tensor  # logarithms, shape (s,)
    covariance: Tensor  # their sampling covariance, shape (s, s)
    num_rows: int  # number of rows that they are means over


def squared_errors(predictions: Tensor, Y: Tensor) -> Tensor:
    """Σ_columns (prediction - Y)² of each row, shape (..., n), for predictions of shape (..., n, c)."""
    return (predictions - Y).square().sum(-1)


def mistakes(predictions: Tensor, Y: Tensor) -> Tensor:
    """1 where the sign (one column of ±1) or the argmax (one-hot columns) is not that of Y, else 0."""
    if Y.shape[1] == 1:
        return (predictions * Y <= 0).squeeze(-1).to(Y.dtype)
    return (predictions.argmax(-1) != Y.argmax(-1)).to(Y.dtype)


def unseen_predictions(cross: Tensor, Y: Tensor, subset: Tensor, ridge: float) -> Tensor:
    """Predict every row, shape (t, c), from the whole subset, or leaving the row out where it is in there.

    Leaving out is in closed form, y_i - α_i / (K⁻¹)_ii with α = K⁻¹ Y [rasmussen2006gp, eq. 5.12].

    Args:
        cross: Kernel between the rows that may be fitted, the first p, and all rows, shape (p, t).
        Y: Targets, shape (t, c).
        subset: Indices of the rows to fit, below p, shape (m,).
        ridge: Added to the kernel's diagonal.
    """
    cross = cross[subset]
    K = cross[:, subset]
    K.diagonal().add_(ridge + JITTER * K.diagonal().mean())
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(K))
    alpha = inverse @ Y[subset]
    predictions = cross.T @ alpha
    predictions[subset] = Y[subset] - alpha / inverse.diagonal()[:, None]
    return predictions


def subset_sizes(n: int) -> list[int]:
    """Sizes of the fitted subsets, descending: n or TRAIN_ROWS, then halves while large enough."""
    top = min(n, TRAIN_ROWS)
    return [top, *(m for k in range(1, NUM_HALVINGS + 1) if (m := top >> k) >= SMALLEST_SUBSET)]


def subset_predictions(
    kernel: Kernel, X: Tensor, Y: Tensor, rows: Tensor, ridge: float, generator: torch.Generator
) -> dict[int, Tensor]:
    """What the random subsets of each size predict for the judged rows, size -> (num_subsets, t, c)."""
    top, *smaller = subset_sizes(X.shape[0])
    cross = cross_matrix(kernel, X[rows[:top]], X[rows]).to(Y.dtype)
    predictions = {top: unseen_predictions(cross, Y[rows], torch.arange(top), ridge)[None]}
    for size in smaller:
        num_subsets = min(MAX_SUBSETS, NUM_SUBSETS * top // (2 * size))
        subsets = [torch.randperm(top, generator=generator)[:size] for _ in range(num_subsets)]
        predictions[size] = torch.stack([unseen_predictions(cross, Y[rows], s, ridge) for s in subsets])
    return predictions


def log_error_curve(errors: dict[int, Tensor]) -> LogCurve:
    """Logarithm of the mean of `errors`, size -> (num_subsets, t); covariance by the delta method."""
    sizes = sorted(errors)
    rows = torch.stack([errors[m].mean(0) for m in sizes], 1).clamp_min(torch.finfo(torch.float64).tiny)
    mean = rows.mean(0)
    # Which subsets were drawn moves a point too; a single one of full size leaves nothing to draw.
    drawn = [
        errors[m].mean(1).var() / len(errors[m]) if len(errors[m]) > 1 else mean.new_zeros(()) for m in sizes
    ]
    covariance = row_covariance(rows / mean) + torch.diag(torch.stack(drawn) / mean.square())
    return LogCurve(torch.tensor(sizes, dtype=mean.dtype), mean.log(), covariance, len(rows))


def log_ratio_curve(wrong: dict[int, Tensor], errors: dict[int, Tensor]) -> LogCurve:
    """Logarithm of mistakes per squared error at the largest sizes; both arguments size -> (num_subsets, t).

    Half a mistake is added to those counted, as in Jeffreys' prior, so that none is not taken for never.
    """
    sizes = sorted(errors)[-RATIO_SIZES:]
    wrong_rows = torch.stack([wrong[m].mean(0) for m in sizes], 1)
    error_rows = torch.stack([errors[m].mean(0) for m in sizes], 1).clamp_min(torch.finfo(torch.float64).tiny)
    counted = wrong_rows.sum(0) + 0.5
    rate, mean = counted / (len(wrong_rows) + 1), error_rows.mean(0)
    covariance = row_covariance(wrong_rows / rate - error_rows / mean) + 0.5 / torch.outer(counted, counted)
    return LogCurve(torch.tensor(sizes, dtype=mean.dtype), (rate / mean).log(), covariance, len(wrong_rows))


def row_covariance(influence: Tensor) -> Tensor:
    """Covariance of the mean over rows of `influence` (t, s), shape (s, s)."""
    return torch.atleast_2d(torch.cov(influence.T)) / len(influence)


def extrapolate(curve: LogCurve, sizes: Tensor, prior: CurvePrior) -> tuple[Tensor, Tensor]:
    """Posterior mean and variance of the logarithm at `sizes` (f,) beyond the curve's, each of shape (f,).

    Gaussian conditioning on a curve level + slope·x + drift·∫W in x = log2(rows), from the smallest size on;
    the covariance of ∫W at x ≤ x' is x² (3x' - x) / 6 [rasmussen2006gp, eq. 6.28]. The level is unknown.
    """
    x, future = torch.log2(curve.sizes / curve.sizes[0]), torch.log2(sizes / curve.sizes[0])

    def covariance(a: Tensor, b: Tensor) -> Tensor:
        low, high = torch.minimum(a[:, None], b), torch.maximum(a[:, None], b)
        wander = low.square() * (3 * high - low) / 6
        return prior.slope_deviation**2 * low * high + prior.drift**2 * wander

    noise = curve.covariance + prior.roughness**2 * torch.eye(len(x), dtype=x.dtype)
    level_variance = 1e4  # of a logarithm: vague
    gain = torch.linalg.solve(
        covariance(x, x) + noise + level_variance, covariance(x, future) + level_variance
    )
    mean = prior.slope * future + gain.T @ (curve.values - prior.slope * x)
    known = (gain * (covariance(x, future) + level_variance)).sum(0)
    unseen = prior.drift_beyond**2 * (future - x[-1]) ** 3 / 3
    variance = (covariance(future, future).diagonal() + level_variance - known).clamp_min(0)
    return mean, variance + unseen


def wilson_interval(rate: Tensor, num_rows: int) -> tuple[Tensor, Tensor]:
    """Wilson's score interval for a share that was `rate` (s,) among `num_rows`."""
    centre = (rate + Z**2 / (2 * num_rows)) / (1 + Z**2 / num_rows)
    half = Z / (1 + Z**2 / num_rows) * (rate * (1 - rate) / num_rows + Z**2 / (4 * num_rows**2)).sqrt()
    return (centre - half).clamp_min(0), (centre + half).clamp_max(1)


def sampled_share_interval(log_rate: Tensor, variance: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
    """Interval of the share that `sizes` (f,) rows would show when the log of the true one is uncertain.

    Distances of the two uncertainties from the centre add in squares, each side for itself [donner2012mover].
    """
    rate, spread = log_rate.exp().clamp_max(1), Z * variance.sqrt()
    sampling = Z**2 * rate * (1 - rate) / sizes
    low = rate - ((rate - rate * (-spread).exp()).square() + sampling).sqrt()
    high = rate + ((rate * spread.exp() - rate).square() + sampling).sqrt()
    return low.clamp_min(0), high.clamp_max(1)


def predict_learning_curve(
    kernel: Kernel,
    X: Tensor,
    Y: Tensor,
    sizes: Sequence[int],
    *,
    classification: bool,
    generator: torch.Generator,
    ridge: float = 0.0,
    anchor: Tensor | None = None,
) -> LearningCurve:
    """Measure the learning curve of the kernel predictor up to n rows and extrapolate it to more.

    Args:
        kernel: The kernel of the predictor.
        X: Inputs, shape (n, d).
        Y: Targets, float64, shape (n, c): ±1 in one column or one-hot columns where `classification`.
        sizes: Numbers of rows to predict the error for, each above those at which it is measured.
        classification: Whether the sign or argmax of a prediction names a class.
        generator: Draws the subsets.
        ridge: Added to the kernel's diagonal.
        anchor: Leave-one-out predictions from all n rows, shape (n, c), where they are known already; without
            them the curve is measured up to at most TRAIN_ROWS rows.
    """
    n = X.shape[0]
    if n < 2:
        raise InputError(f"A learning curve needs at least 2 rows, but there is {n}; add rows.")
    last = n if anchor is not None else min(n, TRAIN_ROWS)
    if any(size <= last for size in sizes):
        raise InputError(f"The curve is measured up to {last} rows; give larger sizes than {min(sizes)}.")
    rows = torch.randperm(n, generator=generator)[:TEST_ROWS]
    predictions = subset_predictions(kernel, X, Y, rows, ridge, generator)
    if anchor is not None:
        predictions[n] = anchor[rows][None]
    errors = {size: squared_errors(P, Y[rows]) for size, P in predictions.items()}
    wrong = {size: mistakes(P, Y[rows]) for size, P in predictions.items()} if classification else None
    return assemble(errors, wrong, torch.tensor(sorted(sizes), dtype=torch.float64))


def assemble(errors: dict[int, Tensor], wrong: dict[int, Tensor] | None, future: Tensor) -> LearningCurve:
    """Put measured and extrapolated points, and their intervals, in one curve."""
    curve = log_error_curve(errors)
    log_error, variance = extrapolate(curve, future, ERROR_PRIOR)
    # What would be measured at a future size is itself a mean over that many rows.
    measurement = curve.covariance[-1, -1] * curve.num_rows / future
    centre = torch.cat([curve.values, log_error])
    spread = Z * torch.cat([curve.covariance.diagonal(), variance + measurement]).sqrt()
    shares = None if wrong is None else misclassified_points(errors, wrong, log_error, variance, future)
    return LearningCurve(
        n=tuple(int(m) for m in torch.cat([curve.sizes, future])),
        measured=(True,) * len(curve.sizes) + (False,) * len(future),
        error=floats(centre.exp()),
        error_low=floats((centre - spread).exp()),
        error_high=floats((centre + spread).exp()),
        misclassified=shares and floats(shares[0]),
        misclassified_low=shares and floats(shares[1]),
        misclassified_high=shares and floats(shares[2]),
    )


def misclassified_points(
    errors: dict[int, Tensor], wrong: dict[int, Tensor], log_error: Tensor, variance: Tensor, future: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Share of mistakes at measured and future sizes, with lower and upper ends, each of shape (s + f,)."""
    ratio = log_ratio_curve(wrong, errors)
    log_ratio, ratio_variance = extrapolate(ratio, future, RATIO_PRIOR)
    log_rate = (log_error + log_ratio).clamp_max(0)
    rate = torch.stack([wrong[m].mean() for m in sorted(wrong)])
    low, high = wilson_interval(rate, ratio.num_rows)
    future_low, future_high = sampled_share_interval(log_rate, variance + ratio_variance, future)
    return torch.cat([rate, log_rate.exp()]), torch.cat([low, future_low]), torch.cat([high, future_high])


def floats(values: Tensor) -> tuple[float, ...]:
    """The entries of a vector."""
    return tuple(float(value) for value in values)
