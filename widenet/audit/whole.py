"""All rows of a set that is too large for the kernel: what landmarks and a sample say of their error."""

from widenet.audit.findings import Chosen, LeaveOneOutSummary, WholeRows
from widenet.audit.generalise import loo_summary
from widenet.data.dataset import Dataset
from widenet.data.points import Points
from widenet.predict.landmarks import LandmarkFit
from widenet.predict.learning_curve import LearningCurve

NUM_ERRORS = 2  # standard errors that an end of the range leaves for the draw of the rows


def whole_rows(
    dataset: Dataset, points: Points, fit: LandmarkFit, chosen: Chosen, num_sampled: int
) -> WholeRows:
    """The error of all rows by landmarks, and the range in which that of the kernel itself is expected.

    Args:
        dataset: All rows.
        points: Their points.
        fit: What the regression on landmarks predicts for each.
        chosen: What was found on a sample, its learning curve extrapolated to all rows.
        num_sampled: Rows of that sample.
    """
    loo = loo_summary(dataset, points, fit.loo)
    low, high = error_range(loo, chosen.learning_curve)
    return WholeRows(dataset.n, num_sampled, fit.num_landmarks, fit.missed, loo, low, high)


def error_range(loo: LeaveOneOutSummary, curve: LearningCurve) -> tuple[float, float]:
    """Between which errors that of the kernel with all rows is expected.

    A regression on landmarks sees less of the rows than the kernel does, so that its error is an upper
    estimate. From below there is only what the kernel makes of ever more rows of a sample.

    Args:
        loo: Errors of the regression on landmarks, of all rows.
        curve: The kernel's, measured on a sample and extrapolated to as many rows.
    """
    assert loo.told is not None
    error, deviation = loo.told
    ends = curve.error_low if curve.misclassified_low is None else curve.misclassified_low
    foretold = ends[curve.n.index(loo.rows)]
    low, high = min(foretold, error - NUM_ERRORS * deviation), error + NUM_ERRORS * deviation
    return max(0.0, low), high if loo.misclassified is None else min(high, 1.0)
