"""What the theorems on memorising require, and whether this data set has it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.memorise.problem import (
    SquaresProblem,
    distinct_points,
    first_of_point,
    has_equal_rows,
    perturbed_inputs,
)
from widenet.memorise.rounding import layer_errors
from widenet.memorise.sigma import smallest_certifiable, smallest_singular_value
from widenet.memorise.sizes import MANY_ROWS, default_features, default_neurons, num_forms
from widenet.spectrum.cholesky import EigenvalueBracket

NOISE_LEVELS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
MOST_TRIED = 2048  # rows on which perturbations are tried: all, or those nearest to others
TILE = 4096


@dataclass(frozen=True)
class Conditions:
    """The conditions of Theorem 4 (two layers) or Theorem 5 (three) [mild-memorisation], measured.

    Attributes:
        n: Rows.
        num_points: Distinct inputs among them, up to sign, on which an even network may differ.
        d: Columns of the prepared inputs.
        rank: Dimension of the space that the inputs span, at most d.
        most_two_layers: rank(rank + 1)/2, the most points that two layers fit whatever their targets.
        sigma_two_layers: σ_min for two layers, 0.0 where it is not proved positive; None where measuring it
            for a network that is not taken would take too long.
        layers: Of the network that is taken; `k`, `r` and `power` too are told in `MemoriseResult`.
        k_theorem: The random layer's 2⌈√points⌉ neurons of Theorem 5.
        most_points: The most points that this network fits whatever their targets.
        r_needed: 2k + 2, the least for which Lemma 3 is proved.
        num_parameters: Trained weights.
        sigma_min: Of [z_j^{⊗2}] over the distinct points; its bound is for the exact z_j, which rounding of
            the random layer moves.
        certifiable: The σ_min that float64 can tell from 0 here: its square is twice the rounding of G's
            factorisation, and the rounding of the random layer is beyond that.
        mending_noise: The smallest standard deviation tried that gives a certified σ_min; None where none is
            needed or none was found.
        rows_tried: Rows on which perturbations were tried; 0 where none was needed.
        equal_rows: Whether rows of the random layer all have norm √d, which is ours; False for the paper's
            N(0, I), and for two layers.
    """

    n: int
    num_points: int
    d: int
    rank: int
    most_two_layers: int
    sigma_two_layers: float | None
    layers: int
    k: int
    k_theorem: int
    power: int | None
    most_points: int
    r: int
    r_needed: int
    num_parameters: int
    sigma_min: EigenvalueBracket
    certifiable: float
    mending_noise: float | None
    rows_tried: int
    equal_rows: bool = False


def conditions_of(
    dataset: Dataset, problem: SquaresProblem, *, progress: Callable[[float], None] = lambda _: None
) -> Conditions:
    """Measure the conditions for a problem made from a data set."""
    X = perturbed_inputs(dataset.X, problem.noise, problem.seed)
    points = distinct_points(first_of_point(X))
    Z, errors = problem.Z[points], layer_errors(problem.layer, X[points])
    sigma = smallest_singular_value(Z, errors, progress=progress)
    rank = int(torch.linalg.matrix_rank(X))
    power = None if problem.layer is None else problem.layer.power
    most_points = min(num_forms(problem.k, 2), num_forms(rank, 2 * (power or 1)))
    tried, mending = (0, None) if sigma.lower > 0 else _mend(dataset.X, problem)
    return Conditions(
        n=problem.n,
        num_points=len(points),
        d=dataset.d,
        rank=rank,
        most_two_layers=num_forms(rank, 2),
        sigma_two_layers=_sigma_two_layers(X[points], num_forms(rank, 2), problem, sigma),
        layers=problem.layers,
        k=problem.k,
        k_theorem=default_features(len(points)),
        power=power,
        most_points=most_points,
        r=problem.r,
        r_needed=default_neurons(problem.k),
        num_parameters=problem.num_parameters,
        sigma_min=sigma,
        certifiable=smallest_certifiable(Z, errors),
        mending_noise=mending,
        rows_tried=tried,
        equal_rows=problem.layer is not None and has_equal_rows(problem.layer),
    )


def _sigma_two_layers(
    points: Tensor, most: int, problem: SquaresProblem, sigma: EigenvalueBracket
) -> float | None:
    """σ_min of the distinct inputs themselves, `sigma` if that is what it is; 0.0 where it is not proved."""
    if problem.layers == 2:
        found = sigma
    elif most < len(points):
        return 0.0
    elif len(points) > MANY_ROWS:
        return None
    else:
        found = smallest_singular_value(points)
    return found.value if found.lower > 0 else 0.0


def _mend(X: Tensor, problem: SquaresProblem) -> tuple[int, float | None]:
    """How many rows were tried and the least noise that makes their σ_min certified.

    σ_min of some rows is an upper bound on that of all, so with many rows the answer may be too small.
    """
    rows = nearest_rows(X, MOST_TRIED)
    for noise in NOISE_LEVELS:
        if noise <= problem.noise:
            continue
        moved = perturbed_inputs(X, noise, problem.seed)[rows]
        Z = moved if problem.layer is None else problem.layer(moved)
        if smallest_singular_value(Z, layer_errors(problem.layer, moved)).lower > 0:
            return len(rows), noise
    return len(rows), None


def nearest_rows(X: Tensor, most: int) -> Tensor:
    """Indices of at most `most` rows, those with the largest |cosine| to another row, ascending."""
    n = len(X)
    if n <= most:
        return torch.arange(n)
    directions = torch.nn.functional.normalize(X, dim=1).to(torch.float32)
    nearest = torch.zeros(n)
    for start in range(0, n, TILE):
        cosines = (directions[start : start + TILE] @ directions.T).abs_()
        cosines.diagonal(start).zero_()
        nearest[start : start + TILE] = cosines.amax(1)
    return nearest.topk(most).indices.sort().values
