"""Which labels are wrong? Every row ranked by how badly its target fits the rest."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.audit.result import LabelNoise, Suspect
from widenet.data.dataset import Dataset
from widenet.kernels.kernel import Kernel
from widenet.kernels.names import kernel_by_name
from widenet.predict.labels import (
    LabelModel,
    LabelQuality,
    choose_label_model,
    choose_target_model,
    judge_labels,
    judge_targets,
)
from widenet.predict.loo import LeaveOneOut

FitLabels = Callable[[Kernel, Tensor, float], LeaveOneOut]


@dataclass(frozen=True)
class LabelReport:
    """The noise of the labels, and all rows, the most suspicious first."""

    noise: LabelNoise
    suspects: tuple[Suspect, ...]


def audit_labels(dataset: Dataset, fit: FitLabels, *, generator: torch.Generator) -> LabelReport:
    """Choose a kernel and ridge for the labels by likelihood, leave every row out, and judge its label.

    Args:
        dataset: The data.
        fit: Leave-one-out predictions of all rows for a kernel, targets (n, c) and a ridge.
        generator: Draws the rows on which the model is chosen.
    """
    if dataset.labels is None:
        target_model = choose_target_model(dataset.X, dataset.Y, generator=generator)
        loo = fit(kernel_by_name(target_model.kernel), dataset.Y, target_model.ridge)
        quality = judge_targets(loo.predictions, loo.variances, dataset.Y, ridge=target_model.ridge)
        return _report(dataset, quality, _in_units(dataset, loo.predictions), target_model)
    num_classes = len(dataset.classes)
    model = choose_label_model(dataset.X, dataset.labels, num_classes, generator=generator)
    loo = fit(kernel_by_name(model.kernel), dataset.Y, model.ridge)
    quality = judge_labels(loo.predictions, loo.variances, dataset.labels, num_classes)
    suggested = [dataset.classes[index] for index in quality.suggested.tolist()]
    return _report(dataset, quality, suggested, model)


def _report(dataset: Dataset, quality: LabelQuality, suggested: list[str], model: LabelModel) -> LabelReport:
    scores, rows = quality.score.tolist(), dataset.rows.tolist()
    order = torch.argsort(quality.score, descending=True, stable=True).tolist()
    suspects = tuple(Suspect(rows[i], dataset.given[i], suggested[i], scores[i]) for i in order)
    noise = LabelNoise(quality.estimate, quality.low, quality.high, model.kernel, model.ridge)
    return LabelReport(noise, suspects)


def _in_units(dataset: Dataset, predictions: Tensor) -> list[str]:
    """Predicted targets (n, c) in the units that the user wrote."""
    values = dataset.target_scale.in_units(predictions)
    return [", ".join(f"{value:.6g}" for value in row) for row in values.tolist()]
