"""How well will it generalise? The bound, leave-one-out, and the error at other numbers of rows."""

import torch
from torch import Tensor

from widenet.audit.result import Bound, Complexity, LeaveOneOutSummary
from widenet.audit.spectral import LabelSpectrum
from widenet.data.dataset import Dataset
from widenet.kernels.kernel import Kernel
from widenet.predict.learning_curve import (
    LearningCurve,
    mistakes,
    predict_learning_curve,
    squared_errors,
)
from widenet.predict.loo import LeaveOneOut
from widenet.theory.fine_grained.bounds import generalisation_bound

DELTA = 0.01  # failure probability that the bound is stated for
GROWTH = (2, 4)  # multiples of n at which the learning curve is extrapolated


def unbiased_predictions(dataset: Dataset, loo: LeaveOneOut) -> Tensor:
    """Leave-one-out predictions whose squared errors are right on average, shape (n, c).

    With an estimated precision C (1 + e), residuals α / C come out as α / (C (1 + e)), whose square is too
    large by the factor 1 + 3 E[e²] on average.
    """
    shrunk = (loo.predictions - dataset.Y) / (1 + 3 * loo.precision_error.square()).sqrt()[:, None]
    return dataset.Y + shrunk


def loo_summary(dataset: Dataset, loo: LeaveOneOut | None) -> LeaveOneOutSummary:
    """Mean squared leave-one-out error, its error bar, and the share of rows misclassified."""
    baseline = float(dataset.Y.var(0, correction=0).sum())
    if loo is None:
        return LeaveOneOutSummary(None, None, None, dataset.n, "not converged", baseline)
    noise, predictions = loo.precision_error, unbiased_predictions(dataset, loo)
    errors = squared_errors(predictions, dataset.Y)
    classification = dataset.labels is not None
    return LeaveOneOutSummary(
        error=float(errors.mean()),
        error_bar=float((2 * noise * errors).norm()) / dataset.n,
        misclassified=float(mistakes(predictions, dataset.Y).mean()) if classification else None,
        rows=dataset.n,
        method="estimated" if bool(noise.any()) else "closed form",
        baseline=baseline,
    )


def learning_curve(
    dataset: Dataset, kernel: Kernel, loo: LeaveOneOut | None, *, generator: torch.Generator
) -> LearningCurve:
    """Errors measured on subsets of the rows and extrapolated to twice and four times as many."""
    return predict_learning_curve(
        kernel,
        dataset.X,
        dataset.Y,
        [factor * dataset.n for factor in GROWTH],
        classification=dataset.labels is not None,
        generator=generator,
        anchor=None if loo is None else unbiased_predictions(dataset, loo),
    )


def population_bound(
    dataset: Dataset, kernel_name: str, spectrum: LabelSpectrum, complexity: Complexity, diagonal: Tensor
) -> Bound:
    """Theorem 5.1's bound for the hardest target column, and whether the theorem speaks of this case."""
    hardest = max(complexity.columns, key=lambda column: column.lower)
    if hardest.upper is None or hardest.value is None or spectrum.floor <= 0:
        why = "The complexity is not certified here (see above), and without it there is no bound."
        return Bound(None, {}, DELTA, vacuous=True, applies=False, why=why)
    quadratic = hardest.upper**2 * dataset.n / 2
    bound = generalisation_bound(
        quadratic, float(diagonal.sum()), dataset.n, floor=spectrum.floor, delta=DELTA
    )
    vacuous = bound.value >= 1
    reasons = _outside(dataset, kernel_name, spectrum)
    return Bound(bound.value, bound.terms, DELTA, vacuous, not reasons, _why(reasons, vacuous))


def _outside(dataset: Dataset, kernel_name: str, spectrum: LabelSpectrum) -> list[str]:
    """Reasons why Theorem 5.1 does not speak of this case as it stands."""
    reasons = []
    if kernel_name != "relu2-hidden":
        reasons.append(f"it is about relu2-hidden, and for {kernel_name} this is its analogue for kernels")
    if dataset.Y.shape[1] > 1:
        which = "class against the rest" if dataset.task == "multiclass" else "target"
        reasons.append(f"it is about one output, and this is for the hardest {which}")
    if float(dataset.Y.abs().max()) > 1:
        reasons.append("it is about targets between -1 and 1, and some of these are larger")
    if spectrum.unfittable > 0:
        reasons.append("identical rows with different targets keep the training loss above zero")
    return reasons


def _why(reasons: list[str], vacuous: bool) -> str:
    scope = (
        f"The theorem does not apply as it stands: {'; '.join(reasons)}."
        if reasons
        else "The theorem applies to a network of sufficient width and small initialisation."
    )
    verdict = (
        "A loss of at most 1 is certain anyway, so the bound says nothing here."
        if vacuous
        else "The bound is below 1, so it does say something."
    )
    return f"{scope} {verdict}"
