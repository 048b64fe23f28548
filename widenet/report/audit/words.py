"""What verdicts, sentences and charts of an audit share: how errors are told, and beside what.

The error of classes is the share of misclassified rows. That of numbers is the root of the mean squared
error in the units of the data, because a person knows how large a price is, and not what a variance is.
"""

import math
from dataclasses import dataclass

from widenet.audit.findings import Estimate, LeaveOneOutSummary, WholeRows
from widenet.audit.result import AuditResult
from widenet.base.wording import percent
from widenet.predict.learning_curve import LearningCurve, more_rows_help
from widenet.report.parts.quantities import three_digits

SURE, HINT = 0.001, 0.05  # p-values: below the first chance is ruled out, above the second nothing does that
CLEAR_GAIN = 3  # standard errors by which the best constant must be worse


@dataclass(frozen=True)
class ToldError:
    """An error as people read it, and the best constant's."""

    value: float
    deviation: float  # its standard error
    constant: float


@dataclass(frozen=True)
class ToldCurve:
    """Errors of a learning curve as people read them."""

    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Ahead:
    """The learning curve today and at twice the rows."""

    n: int  # twice the rows
    now: float  # error with the rows that there are, extrapolated where only a sample was audited
    error: float  # predicted error with n rows
    low: float  # lower end of its interval
    high: float  # upper end of its interval
    helps: bool  # whether that is surely less than today's error, by as much as matters


def is_regression(result: AuditResult) -> bool:
    """Whether targets are numbers."""
    return result.data.task == "regression"


def targets_word(result: AuditResult) -> str:
    """What the targets are called: labels of classes, targets of a regression."""
    return "targets" if is_regression(result) else "labels"


def is_repeated(result: AuditResult) -> bool:
    """Whether some rows have the same inputs."""
    return bool(result.soundness.duplicates)


def spoken_error(result: AuditResult, error: float) -> str:
    """An error as it is told: a percentage, or a number in the units of the data."""
    return three_digits(error) if is_regression(result) else percent(error)


def root_error(result: AuditResult, squared: float) -> float:
    """A mean squared error of standardised targets as its root, in the units of the data."""
    return math.sqrt(max(squared, 0.0)) * result.data.target_scale


def as_told(result: AuditResult, error: float) -> float:
    """An error as people read it: a share as it is, a squared one as its root."""
    return root_error(result, error) if is_regression(result) else error


def best_constant(result: AuditResult) -> float:
    """The error of always giving the most frequent class, or the mean, on the rows of the learning curves."""
    return as_told(result, result.chosen.loo.constant)


def told_error(result: AuditResult, loo: LeaveOneOutSummary) -> ToldError | None:
    """The error with rows left out; None where it is not known.

    The root of a squared error e with standard error s has the standard error s / (2√e).
    """
    if loo.told is None:
        return None
    value, deviation = loo.told
    constant = as_told(result, loo.constant)
    if loo.misclassified is not None:
        return ToldError(value, deviation, constant)
    of_root = deviation / (2 * math.sqrt(value)) if value > 0 else 0.0
    scale = result.data.target_scale
    return ToldError(root_error(result, value), scale * of_root, constant)


def why_unknown(loo: LeaveOneOutSummary) -> str:
    """Why there is no error with rows left out."""
    return "did not converge" if loo.method is Estimate.NOT_CONVERGED else "is too rough to be told"


def told_range(result: AuditResult, whole: WholeRows) -> tuple[float, float]:
    """Between which errors the kernel is expected with all rows."""
    return as_told(result, whole.low), as_told(result, whole.high)


def foreseen(result: AuditResult, error: str) -> str:
    """The error to expect: about so much, or where only landmarks see all rows, between two ends."""
    if result.whole is None:
        return f"about {error}"
    low, high = (spoken_error(result, each) for each in told_range(result, result.whole))
    return f"about {low}" if low == high else f"{low} to {high}"


def who_misses(result: AuditResult) -> str:
    """Whose blindness may look like noise, and what it does."""
    return "the network misses" if result.whole is None else "the landmarks miss"


def who_errs(result: AuditResult) -> str:
    """Whose error with all rows is known."""
    if result.whole is None:
        return "a wide network"
    return f"a regression on {result.whole.num_landmarks:,} landmarks"


def told_curve(result: AuditResult, curve: LearningCurve) -> ToldCurve:
    """The misclassified share where there is one, else the root of the squared error."""
    if curve.misclassified is None or curve.misclassified_low is None or curve.misclassified_high is None:
        squared = (curve.error, curve.error_low, curve.error_high)
        return ToldCurve(*(tuple(root_error(result, each) for each in values) for values in squared))
    return ToldCurve(curve.misclassified, curve.misclassified_low, curve.misclassified_high)


def has_gain(result: AuditResult) -> bool:
    """Whether the chosen kernel is clearly better than the best constant, and chance does not explain it.

    Where only a sample was audited, a gain that is too small for it may be clear by landmarks on all rows.
    """
    if result.whole is not None and _is_clear(result.whole.loo):
        return True
    return result.dependence.p_value_by_row < HINT and _is_clear(result.chosen.loo)


def _is_clear(loo: LeaveOneOutSummary) -> bool:
    if loo.told is None:
        return False
    error, deviation = loo.told
    bar = (loo.error_bar or 0.0) if loo.misclassified is None else 0.0  # it is that of the squared error
    return error + CLEAR_GAIN * deviation + bar < loo.constant


def ranks_rows(result: AuditResult) -> bool:
    """Whether predictions clearly rank the rows of two classes, which an error may not show of a rare one."""
    loo = result.judged
    if loo.auc is None or loo.auc_standard_error is None or result.dependence.p_value_by_row >= HINT:
        return False
    return loo.auc - CLEAR_GAIN * loo.auc_standard_error > 0.5


def twice_the_rows(result: AuditResult) -> Ahead | None:
    """What the chosen kernel's learning curve says of twice the rows; None where it does not reach them."""
    curve = result.chosen.learning_curve
    now = max((index for index, measured in enumerate(curve.measured) if measured), default=None)
    if now is None:
        return None
    if result.whole is not None:
        now = curve.n.index(result.whole.n)
    ahead = next((index for index, n in enumerate(curve.n) if n >= 2 * curve.n[now]), None)
    if ahead is None or curve.measured[ahead]:
        return None
    told = told_curve(result, curve)
    helps = more_rows_help(curve) and told.high[ahead] < told.middle[now]
    return Ahead(
        curve.n[ahead], told.middle[now], told.middle[ahead], told.low[ahead], told.high[ahead], helps
    )


def is_contradicted(result: AuditResult, ahead: Ahead) -> bool:
    """Whether the error to which a curve was extrapolated is more than what landmarks show of all rows."""
    return result.whole is not None and ahead.now > told_range(result, result.whole)[1]
