"""Which labels are wrong? Every row ranked by how badly its target fits the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.audit.findings import Chosen, LabelNoise, Suspect
from widenet.data.dataset import Dataset
from widenet.data.points import Points
from widenet.predict.labels import LabelQuality, judge_labels, judge_targets
from widenet.predict.loo import LeaveOneOut

LARGEST_WRITTEN = 1e15  # from here on a number has an exponent


@dataclass(frozen=True)
class LabelReport:
    """The noise of the labels, how many the other rows contradict, and all rows, the worst first."""

    noise: LabelNoise
    contradicting: int | None
    suspects: tuple[Suspect, ...]


def audit_labels(dataset: Dataset, points: Points, chosen: Chosen, loo: LeaveOneOut) -> LabelReport:
    """Judge each row's label by what the rows at other points predict for it.

    Args:
        dataset: The data.
        points: Its distinct points.
        chosen: The kernel and ridge that were chosen for it.
        loo: Their predictions for all rows, by the rows at other points.
    """
    quality = _quality(dataset, points, loo)
    scores, rows = quality.score.tolist(), dataset.rows.tolist()
    suggested = suggested_words(dataset, quality.suggested)
    order = torch.argsort(quality.score, descending=True, stable=True).tolist()
    suspects = tuple(Suspect(rows[i], dataset.given[i], suggested[i], scores[i]) for i in order)
    noise = LabelNoise(
        estimate=quality.estimate,
        low=quality.low,
        high=quality.high,
        level=quality.level,
        decided=quality.decided,
        kernel=chosen.kernel,
        ridge=chosen.ridge,
    )
    return LabelReport(noise, quality.contradicting, suspects)


def most_similar(
    dataset: Dataset, points: Points, suspects: Sequence[Suspect], num: int
) -> dict[int, tuple[int, ...]]:
    """The rows at other points whose inputs make the smallest angles with those of each suspect.

    Args:
        dataset: The data, rows of norm 1.
        points: Its distinct points.
        suspects: Whose neighbours are wanted.
        num: Rows for each, or as many as there are.
    """
    index = {row: place for place, row in enumerate(dataset.rows.tolist())}
    own = torch.tensor([index[each.row] for each in suspects], dtype=torch.int64)
    cosines = dataset.X[own] @ dataset.X.T
    cosines[points.place[own][:, None] == points.place] = -math.inf
    closest, places = cosines.topk(min(num, dataset.n), dim=1)
    return {
        each.row: tuple(dataset.rows[near[known]].tolist())
        for each, near, known in zip(suspects, places, closest > -math.inf, strict=True)
    }


def _quality(dataset: Dataset, points: Points, loo: LeaveOneOut) -> LabelQuality:
    if dataset.labels is None:
        return judge_targets(loo.predictions, loo.variances, dataset.Y, place=points.place)
    num_classes = len(dataset.classes)
    return judge_labels(loo.predictions, loo.variances, dataset.labels, num_classes, place=points.place)


def suggested_words(dataset: Dataset, suggested: Tensor) -> list[str]:
    """What the other rows suggest, as the user writes it: the class 6 is 6.0 where the file has 6.0.

    A row that keeps its class, or nearly its number, keeps the word that it was given; any other has
    another word. So these words and those of `Dataset.given` may be compared.

    Args:
        dataset: The data.
        suggested: Class indices, shape (n,), or targets, shape (n, c).
    """
    if dataset.labels is None:
        words, own = _in_units(dataset, suggested), _in_units(dataset, dataset.Y)
        told = zip(words, own, dataset.given, strict=True)
        return [given if word == number else word for word, number, given in told]
    labels = dataset.labels.tolist()
    spelled = dict(enumerate(dataset.classes)) | dict(zip(labels[::-1], dataset.given[::-1], strict=True))
    classes = zip(suggested.tolist(), labels, dataset.given, strict=True)
    return [given if index == label else spelled[index] for index, label, given in classes]


def _in_units(dataset: Dataset, predictions: Tensor) -> list[str]:
    """Predicted targets (n, c) in the units that the user wrote, to a thousandth of their spread."""
    values, own = (dataset.target_scale.in_units(Y) for Y in (predictions, dataset.Y))
    largest, spread = float(own.abs().max()), float(own.std(0).max())
    digits = max(6, 4 + math.ceil(math.log10(largest / spread))) if 0 < spread < math.inf else 6
    return [", ".join(_written(value, digits) for value in row) for row in values.tolist()]


def _written(value: float, digits: int) -> str:
    """So many significant digits, and zeros up to the point: a price of 1372840, not 1.37284e+06."""
    rounded = f"{value:.{digits}g}"
    return f"{float(rounded):.0f}" if 10**digits <= abs(float(rounded)) < LARGEST_WRITTEN else rounded
