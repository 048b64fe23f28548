"""Errors at several numbers of rows -> the error to expect at more.

Near the last measured size n the logarithm of the error is taken to change by s at a doubling of the rows and
by κ times as much at each further one,

    log error(n 2^h) = level + s (κ^h − 1) / log κ.

κ = 1 is a power law, as kernel regression follows where spectrum and target do [bordelon2020spectrum, Section
3]; κ < 1 levels off, as noise in the targets or a ridge makes it; κ > 1 is a predictor that has only begun to
learn. For a given κ the curve is linear in level and s, whose posterior is Gaussian; κ takes the values of a
grid, each weighted by how well it explains what was measured. All sizes are judged on the same rows, and the
sampling covariance of their errors says how much of a slope or a bend a few outlying rows may have made.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.data.points import points_of


@dataclass(frozen=True)
class CurvePrior:
    """What is believed of a logarithmic curve before it is measured.

    Attributes:
        slope: Expected change of the logarithm at a doubling of the rows.
        slope_deviation: Standard deviation of that change between data sets.
        roughness: Standard deviation by which a measured point may lie off the smooth curve.
        tails: Factor by which sampling moves the points more than the rows show: where a few outlying rows
            carry the error, most samples hold too few of them to show it.
    """

    slope: float
    slope_deviation: float
    roughness: float
    tails: float = 1.0


# Chosen by the likelihood of what was measured on held-out rows, starting from quarters and halves of digits,
# mnist, mnist-2 and the tables that benchmarks/tables.py names for it; other tables judge the choice.
ERROR_PRIOR = CurvePrior(slope=-0.35, slope_deviation=0.2, roughness=0.015)  # squared error of classes
NUMBER_PRIOR = CurvePrior(slope=-0.45, slope_deviation=0.3, roughness=0.015, tails=2.5)  # and of numbers
SHARE_PRIOR = CurvePrior(slope=-0.25, slope_deviation=0.3, roughness=0.035)
LOG_KAPPA, LOG_KAPPA_DEVIATION = -0.35, 0.45  # a doubling helps 0.7 times as much as the one before
KAPPA_SCORES = torch.linspace(-3, 3, 61, dtype=torch.float64)  # grid of κ, in standard deviations


@dataclass(frozen=True)
class LogCurve:
    """Logarithms of a quantity at several sizes, and how far sampling may have moved them."""

    sizes: Tensor  # numbers of rows, ascending, float64, shape (s,)
    values: Tensor  # logarithms, shape (s,)
    covariance: Tensor  # their sampling covariance, shape (s, s)


@dataclass(frozen=True)
class Mixture:
    """Mixtures of k Gaussians with common weights, one for each of f quantities."""

    weights: Tensor  # shape (k,), of sum 1
    means: Tensor  # shape (k, f)
    deviations: Tensor  # shape (k, f)

    def quantile(self, probability: float) -> Tensor:
        """Where the distribution function reaches `probability`, shape (f,), by bisection."""
        low = (self.means - 10 * self.deviations).min(0).values
        high = (self.means + 10 * self.deviations).max(0).values
        for _ in range(60):
            middle = (low + high) / 2
            below = self.weights @ torch.special.ndtr((middle - self.means) / self.deviations) < probability
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return (low + high) / 2

    def interval(self) -> tuple[Tensor, Tensor, Tensor]:
        """Lower end of the 95% interval, median and upper end, each of shape (f,)."""
        return self.quantile(0.025), self.quantile(0.5), self.quantile(0.975)


@dataclass(frozen=True)
class CurvePosterior:
    """Level and slope at the last measured size, for each κ of the grid.

    Attributes:
        log_kappa: Logarithms of κ, shape (k,).
        weights: Posterior probability of each κ, shape (k,).
        mean: Of level and slope, shape (k, 2).
        covariance: Of level and slope, shape (k, 2, 2).
    """

    log_kappa: Tensor
    weights: Tensor
    mean: Tensor
    covariance: Tensor

    def values(self, doublings: Tensor) -> Mixture:
        """Logarithm of the quantity after each of the `doublings` (f,) of the rows."""
        return self._combine(curve_design(self.log_kappa, doublings))

    def changes(self, doublings: Tensor, since: float = 0.0) -> Mixture:
        """How that logarithm differs, so many doublings on, from what it is after `since` of them.

        The level does not matter. Without `since` it is the change from the last measured size.
        """
        start = curve_design(self.log_kappa, doublings.new_tensor([since]))
        return self._combine(curve_design(self.log_kappa, since + doublings) - start)

    def _combine(self, design: Tensor) -> Mixture:
        means = (design @ self.mean[:, :, None])[:, :, 0]
        variances = torch.einsum("kfi,kij,kfj->kf", design, self.covariance, design)
        return Mixture(self.weights, means, variances.clamp_min(1e-12).sqrt())


def curve_design(log_kappa: Tensor, doublings: Tensor) -> Tensor:
    """What level and slope are multiplied with, 1 and (κ^h − 1) / log κ, shape (k, f, 2)."""
    safe = torch.where(log_kappa.abs() < 1e-9, 1e-9, log_kappa)[:, None]  # the limit at κ = 1 is h
    bend = torch.expm1(safe * doublings) / safe
    return torch.stack([torch.ones_like(bend), bend], 2)


def fit_curve(curve: LogCurve, prior: CurvePrior) -> CurvePosterior:
    """Posterior of level (of which nothing is known before), slope and κ.

    Linear regression with known noise for each κ [rasmussen2006gp, Section 2.1.1], weighted by its evidence.
    """
    log_kappa = LOG_KAPPA + LOG_KAPPA_DEVIATION * KAPPA_SCORES
    rough = prior.roughness**2 * torch.eye(len(curve.sizes), dtype=curve.values.dtype)
    noise = prior.tails * curve.covariance + rough
    design = curve_design(log_kappa, torch.log2(curve.sizes / curve.sizes[-1]))
    believed = torch.tensor([0.0, prior.slope], dtype=curve.values.dtype)
    certainty = torch.diag(torch.tensor([0.0, prior.slope_deviation**-2], dtype=curve.values.dtype))
    weighed = torch.linalg.solve(noise, design)  # (k, s, 2)
    precision = design.mT @ weighed + certainty
    covariance = torch.linalg.inv(precision)
    mean = covariance @ (weighed.mT @ curve.values + certainty @ believed)[:, :, None]
    residual = curve.values[:, None] - design @ mean  # (k, s, 1)
    shift = mean - believed[:, None]
    misfit = (residual.mT @ torch.linalg.solve(noise, residual) + shift.mT @ certainty @ shift)[:, 0, 0]
    log_weights = -(KAPPA_SCORES.square() + misfit + torch.logdet(precision)) / 2
    return CurvePosterior(log_kappa, log_weights.softmax(0), mean[:, :, 0], covariance)


def log_error_curve(errors: dict[int, Tensor], place: Tensor) -> LogCurve:
    """Logarithms of mean errors.

    Args:
        errors: For each size the errors of each fitted subset at each row, shape (num_subsets, t).
        place: Index of each row's point, shape (t,).
    """
    return _log_means(errors, place, prior_count=0.0)


def log_share_curve(wrong: dict[int, Tensor], place: Tensor) -> LogCurve:
    """Logarithms of shares, from ones and zeros as in `log_error_curve`.

    Half a mistake is added to those counted, as in Jeffreys' prior, so that none is not taken for never.
    """
    return _log_means(wrong, place, prior_count=0.5)


def _log_means(errors: dict[int, Tensor], place: Tensor, prior_count: float) -> LogCurve:
    """Logarithms of means with `prior_count` ones and zeros added; covariance by the delta method."""
    sizes = sorted(errors)
    rows = torch.stack([errors[m].mean(0) for m in sizes], 1).clamp_min(torch.finfo(torch.float64).tiny)
    total = rows.sum(0) + prior_count
    mean = total / (len(rows) + 2 * prior_count)
    drawn = torch.stack([_drawn_variance(errors[m].mean(1)) for m in sizes])
    covariance = row_covariance(rows / mean, place) + torch.diag(drawn / mean.square())
    added = prior_count / torch.outer(total, total)
    return LogCurve(torch.tensor(sizes, dtype=mean.dtype), mean.log(), covariance + added)


def _drawn_variance(means: Tensor) -> Tensor:
    """How far the draw of the subsets moved their mean; a single one, of all rows, leaves nothing to draw."""
    return means.var() / len(means) if len(means) > 1 else means.new_zeros(())


def row_covariance(influence: Tensor, place: Tensor) -> Tensor:
    """Covariance of the mean over rows of `influence` (t, s), shape (s, s); the points are independent."""
    points = points_of(place)
    sums = points.sums(influence - influence.mean(0))
    return sums.T @ sums * (points.num / max(points.num - 1, 1)) / len(influence) ** 2
