"""The spectrum of H∞ on two classes of images, labels along it, and the descent that it predicts."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from widenet.papers.jobs.images import image_projections
from widenet.papers.jobs.job import Desk, Job
from widenet.predict.curve import descent_diverges, descent_loss, step_grid
from widenet.runs.trial import Record, TrialResult
from widenet.spectrum.lanczos import SpectralMeasure
from widenet.study.speed import Speed

EIGEN_OPERATIONS = 22.0  # times n³, of an eigendecomposition in units of a matrix product's operations
FIRST = 20  # eigenvectors that are shown one by one; later ones in bins
NUM_BINS = 40
TOP = 0.1  # share of the eigenvectors that counts as the top
BEYOND = 2.0  # times the initial loss: a prediction that is larger only ever grows, and counts as infinite


def spectrum_trial(
    data: str, n: int, eta: float, num_steps: int, num_records: int, seeds: Sequence[int]
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: `mnist-2` or `cifar10-2`.
        n: Training rows, the first ones.
        eta: Step size of the descent that is predicted.
        num_steps: Its steps.
        num_records: How many of them are kept, as `descend` spreads them.
        seeds: Of the random labels, as those of descent have them.
    """
    descent = {"eta": eta, "num_steps": num_steps, "num_records": num_records}
    return {"job": f"{__name__}:SPECTRA", "data": data, "n": n, **descent, "seeds": list(seeds)}


def find_spectra(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Eigenvalues, labels along eigenvectors and predicted losses; labels are true, then random by seed."""
    for trial in trials:
        desk.look_up()
        n, eta = trial["n"], trial["eta"]
        found = image_projections(trial["data"], n, tuple(trial["seeds"]))
        squares = found.projections.square()
        measures = [SpectralMeasure(found.eigenvalues, column[:, None]) for column in squares.T]
        worst = torch.zeros(n, 1, dtype=torch.float64)
        worst[-1] = n
        measures.append(SpectralMeasure(found.eigenvalues, worst))
        steps = step_grid(trial["num_steps"], trial["num_records"])
        bins = index_bins(n)
        yield TrialResult(
            {
                "index": [math.sqrt((first + 1) * last) for first, last in bins],
                "eigenvalues": _means(found.eigenvalues.log()[:, None], bins).exp()[:, 0].tolist(),
                "projections": _means(squares, bins).sqrt().T.tolist(),
                "top_share": (squares[: math.ceil(TOP * n)].sum(0) / n).tolist(),
                "largest": float(found.eigenvalues[0]),
                "hundredth": float(found.eigenvalues[min(100, n) - 1]),
                "smallest": float(found.eigenvalues[-1]),
                "steps": steps.to(torch.int64).tolist(),
                "predicted": [_predicted(measure, eta, steps) for measure in measures],
                "diverges": [descent_diverges(measure, eta) for measure in measures],
            }
        )


def index_bins(n: int) -> list[tuple[int, int]]:
    """Ranges (first, last) of eigenvectors from 0: one by one at first, later growing with the index."""
    ends = torch.logspace(math.log10(min(FIRST, n)), math.log10(n), NUM_BINS + 1, dtype=torch.float64)
    edges = sorted({*range(min(FIRST, n) + 1), *(int(end) for end in ends.round())})
    return list(pairwise(edges))


def _means(values: Tensor, bins: Sequence[tuple[int, int]]) -> Tensor:
    """Means of the rows of values (n, p) in each bin, shape (bins, p)."""
    return torch.stack([values[first:last].mean(0) for first, last in bins])


def _predicted(measure: SpectralMeasure, eta: float, steps: Tensor) -> list[float]:
    """‖y − u(k)‖²/n at each step."""
    losses = 2 * descent_loss(measure, eta, steps) / len(measure.nodes)
    shown: list[float] = torch.where(losses > BEYOND * losses[0], math.inf, losses).tolist()
    return shown


def eigen_seconds(n: int, speed: Speed) -> float:
    """What an eigendecomposition takes on one thread."""
    return EIGEN_OPERATIONS * n**3 / speed.double


def spectrum_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """An eigendecomposition for each."""
    return sum(eigen_seconds(trial["n"], speed) for trial in trials)


def eigen_bytes(n: int) -> int:
    """What it holds at a time, the matrix included."""
    return 32 * n * n


def spectrum_bytes(trials: Sequence[Record]) -> int:
    """One at a time."""
    return max(eigen_bytes(trial["n"]) for trial in trials)


SPECTRA = Job(find_spectra, spectrum_seconds, spectrum_bytes)
