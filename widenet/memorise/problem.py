"""What is to be memorised: the trained layer's inputs, the numbers it must put out, and its size."""

from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, shown
from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.memorise.rounding import layer_errors
from widenet.memorise.sigma import smallest_singular_value
from widenet.memorise.sizes import (
    MANY_ROWS,
    MOST_POWER,
    default_features,
    default_neurons,
    num_forms,
    smallest_power,
)
from widenet.networks.quadratic import RandomLayer

SAME = 1e-14  # relative distance up to which inputs are the same: scaling to norm 1 rounds
LADDER = ((1, 1), (1, 2), (1.5, 2), (2, 2), (2, 3), (3, 4))  # powers and widths, times the theorem's
MANY_WEIGHTS = 2**27  # beyond, a wide table takes three layers, which grow with its rows only


@dataclass(frozen=True)
class SquaresProblem:
    """A data set as the net of squares sees it.

    Rows that are the same input up to sign are, up to sign, the same rows of Z, bit for bit: the net is even,
    so they count as one point.

    Attributes:
        Z: Inputs of the trained layer, float64, shape (n, k): the prepared and perturbed inputs themselves
            (two layers, k = d), or the random layer's outputs (three).
        y: The numbers to put out, float64, shape (n,): the index of the class, or the target in units of
            `Dataset.Y`.
        r: Neurons of the trained layer, half of either sign.
        layers: 2 or 3.
        layer: The random layer; None for two layers.
        noise: Standard deviation of what was added to each coordinate of the prepared inputs.
        seed: What the noise and the random layer were drawn from.
    """

    Z: Tensor
    y: Tensor
    r: int
    layers: int
    layer: RandomLayer | None
    noise: float
    seed: int

    @property
    def n(self) -> int:
        return self.Z.shape[0]

    @property
    def k(self) -> int:
        return self.Z.shape[1]

    def to(self, device: torch.device) -> "SquaresProblem":
        """The same with Z and y on another device."""
        return replace(self, Z=self.Z.to(device), y=self.y.to(device))

    @property
    def num_parameters(self) -> int:
        """Trained weights, k r."""
        return self.k * self.r


def problem_of(
    dataset: Dataset,
    *,
    layers: int | None = None,
    r: int | None = None,
    k: int | None = None,
    power: int | None = None,
    noise: float = 0.0,
    seed: int = 0,
    equal_rows: bool = True,
) -> SquaresProblem:
    """The problem of a data set.

    Args:
        dataset: What to memorise: classes, or one target column.
        layers: 2 or 3; by default 2 where that can fit the rows, with a σ_min that float64 can tell from 0.
        r: Neurons of the trained layer, even and at least 2k + 2, which is the default.
        k: Neurons of the random layer; by default 2⌈√n⌉, or a few times as many if that makes σ_min show.
        power: Its exponent p; by default the least with at least twice as many forms of degree 2p as rows, or
            up to three times that power if that makes σ_min show.
        noise: Standard deviation of the Gaussian perturbation of each coordinate of X.
        seed: Where the perturbation and the random layer come from.
        equal_rows: Whether rows of the random layer have norm √d each, or are N(0, I) as in the paper.
    """
    _check_options(layers, k, power, noise)
    y = targets(dataset)
    X = perturbed_inputs(dataset.X, noise, seed)
    _refuse_conflicts(dataset, X, y)
    first = first_of_point(X)
    distinct = distinct_points(first)
    if layers is None:
        layers = 2 if k is None and power is None and _two_layers_fit(X[distinct]) else 3
    if layers == 2:
        _check_two_layers(dataset, len(distinct))
        return SquaresProblem(X, y, _neurons(dataset.d, r), 2, None, noise, seed)
    layer = _random_layer(X[distinct], k, power, seed, equal_rows)
    place = torch.searchsorted(distinct, first)
    Z = layer(X[distinct])[place]  # a product's rounding may depend on a row's place: once for each point
    return SquaresProblem(Z, y, _neurons(len(layer.R), r), 3, layer, noise, seed)


def targets(dataset: Dataset) -> Tensor:
    """The numbers that the net is to put out, float64, shape (n,)."""
    if dataset.labels is not None:
        return dataset.labels.to(torch.float64)
    if dataset.Y.shape[1] != 1:
        raise InputError(
            f"{dataset.name} has {dataset.Y.shape[1]} target columns, but the network has one output: choose "
            "data with one target."
        )
    return dataset.Y[:, 0].clone()


def perturbed_inputs(X: Tensor, noise: float, seed: int) -> Tensor:
    """X + N(0, noise²) in each coordinate, from numpy's PCG64(seed), row by row [mild-memorisation, §4]."""
    if not noise:
        return X
    draws = np.random.Generator(np.random.PCG64(seed)).standard_normal(tuple(X.shape))
    return X + noise * torch.from_numpy(draws)


def random_weights(k: int, d: int, seed: int, equal_rows: bool = True) -> Tensor:
    """R of the random layer, shape (k, d): rows N(0, I) from numpy's PCG64([seed, 1]).

    That is the paper's R [mild-memorisation, Lemma 13]. With `equal_rows`, which is ours, each row is scaled
    to norm √d. A row's length multiplies its feature by a constant, which W takes up, so it changes neither
    what the net can compute nor whether σ_min is 0. But lengths to the power p are what makes σ_min tiny
    where d is small: without them it is 100 times larger for 200 rows of 4 columns, and 6 times for 500 of 6.
    """
    draws = torch.from_numpy(np.random.Generator(np.random.PCG64([seed, 1])).standard_normal((k, d)))
    return draws * (d**0.5 / draws.norm(dim=1, keepdim=True)) if equal_rows else draws


def has_equal_rows(layer: RandomLayer) -> bool:
    """Whether the rows of R all have norm √d, up to rounding."""
    norms = layer.R.norm(dim=1)
    return bool(torch.allclose(norms, torch.full_like(norms, layer.R.shape[1] ** 0.5), rtol=1e-9))


def first_of_point(X: Tensor) -> Tensor:
    """For each row the index of the first row equal to it or to its negative, bit for bit, shape (n,)."""
    seen: dict[bytes, int] = {}
    first = [
        seen.setdefault(blake2b(row, digest_size=16).digest(), index)
        for index, row in enumerate(_upright(X).numpy())
    ]
    return torch.tensor(first)


def distinct_points(first: Tensor) -> Tensor:
    """Indices of the rows that are not ± an earlier one, from `first_of_point`, shape (number of points,)."""
    return (first == torch.arange(len(first))).nonzero()[:, 0]


def _upright(X: Tensor) -> Tensor:
    """Rows with the sign that makes their first entry other than 0 positive; −0.0 becomes 0.0."""
    leading = torch.take_along_dim(X, (X != 0).to(torch.uint8).argmax(1, keepdim=True), dim=1)
    return X * torch.where(leading < 0, -1.0, 1.0) + 0.0


def _refuse_conflicts(dataset: Dataset, X: Tensor, y: Tensor) -> None:
    """Refuse rows that no even function of the inputs can fit, the first of them by number."""
    pairs = _conflicts(dataset, X, y)
    if pairs:
        i, j = pairs[0]
        opposite = float(X[i] @ X[j]) < 0
        relation = "opposite inputs, where this even network is the same," if opposite else "the same input"
        more = f" (and {counted(len(pairs) - 1, 'other pair')})" if len(pairs) > 1 else ""
        raise InputError(
            f"Rows {int(dataset.rows[i])} and {int(dataset.rows[j])}{more} are {relation} with different "
            f"targets {shown(dataset.given[i])} and {shown(dataset.given[j])}, so this network cannot "
            "memorise both: remove one, or tell them apart with `perturb=0.01`."
        )
    zero = ((X == 0).all(1) & (y != 0)).nonzero()[:, 0]
    if len(zero):
        raise InputError(
            f"Row {int(dataset.rows[int(zero[0])])} is all zeros, where this network is 0, and its target is "
            "not: remove it, or move it with `perturb=0.01`."
        )


def _conflicts(dataset: Dataset, X: Tensor, y: Tensor) -> list[tuple[int, int]]:
    """Pairs of rows that are one input up to sign and rounding with different targets, one for each input."""
    upright = _upright(X)
    close = find_duplicates(replace(dataset, X=upright, rows=torch.arange(len(X)))).conflicts
    pairs = []
    for group in close:
        rows = torch.tensor(group)
        while len(rows) > 1:
            first, others = rows[0], rows[1:]
            same = (upright[others] - upright[first]).norm(dim=1) <= SAME * upright[first].norm()
            clash = others[same & (y[others] != y[first])]
            pairs += [(int(first), int(clash[0]))] if len(clash) else []
            rows = others[~same]
    return sorted(pairs)


def _two_layers_fit(points: Tensor) -> bool:
    """Whether forms of degree 2 fit distinct points (u, d) whatever the targets, with a σ_min that shows."""
    count, d = points.shape
    if d * default_neurons(d) > MANY_WEIGHTS or count > num_forms(int(torch.linalg.matrix_rank(points)), 2):
        return False
    return count > MANY_ROWS or smallest_singular_value(points).lower > 0


def _check_two_layers(dataset: Dataset, num_points: int) -> None:
    most = num_forms(dataset.d, 2)
    if num_points > most:
        raise InputError(
            f"Two layers can memorise at most d(d+1)/2 = {most:,} distinct rows of {dataset.d} columns, but "
            f"{dataset.name} has {num_points:,}: pass `layers=3`, which puts a random layer before them."
        )


def _random_layer(
    points: Tensor, k: int | None, power: int | None, seed: int, equal_rows: bool
) -> RandomLayer:
    """The random layer for distinct points (u, d): of the theorem's size, or the first on LADDER that shows.

    Many points in few columns have a σ_min that rounding hides. A higher power tells near points apart, and
    more features spread them. If nothing helps, or takes too long to try, the theorem's size is taken.
    """
    count = len(points)
    least_k, least_power = k or default_features(count), power or _power(points)
    sizes = {
        (k or width * least_k, power or min(MOST_POWER, round(height * least_power))): None
        for height, width in LADDER
    }
    layers = (_scaled_layer(points, *size, seed, equal_rows) for size in sizes)
    first = next(layers)
    if count > MANY_ROWS // 2:
        return first
    return next((layer for layer in chain([first], layers) if _tells_apart(layer, points)), first)


def _tells_apart(layer: RandomLayer, points: Tensor) -> bool:
    """Whether σ_min of the layer's outputs on distinct points (u, d) is proved positive."""
    return smallest_singular_value(layer(points), layer_errors(layer, points)).lower > 0


def _scaled_layer(points: Tensor, k: int, power: int, seed: int, equal_rows: bool) -> RandomLayer:
    """A random layer scaled so that the z of the points have mean squared norm 1."""
    count, d = points.shape
    if num_forms(k, 2) < count:
        raise InputError(
            f"After a random layer of {k:,} neurons at most k(k+1)/2 = {num_forms(k, 2):,} distinct rows can "
            f"be memorised, but there are {count:,}: use at least {default_features(count):,}."
        )
    require_memory(4 * 8 * count * k, f"A random layer of {k:,} neurons on {count:,} rows")
    unscaled = RandomLayer(random_weights(k, d, seed, equal_rows), power, 1.0)
    scale = float(unscaled(points).square().sum(1).mean().rsqrt())
    return RandomLayer(unscaled.R, power, scale)


def _power(points: Tensor) -> int:
    count = len(points)
    power = smallest_power(count, int(torch.linalg.matrix_rank(points)))
    if power is None:
        raise InputError(
            f"All {count:,} distinct rows lie on one line through 0, where this network is a number times a "
            "power: add columns, or pass `prepare=standard`."
        )
    return power


def _neurons(k: int, r: int | None) -> int:
    least = default_neurons(k)
    if r is None:
        r = least
    elif r < least or r % 2:
        raise InputError(
            f"The trained layer needs an even number of at least 2k + 2 = {least:,} neurons for its {k:,} "
            f"inputs (Lemma 3), not {r:,}."
        )
    require_memory(4 * 8 * k * r, f"A network of {k:,} x {r:,} weights")
    return r


def _check_options(layers: int | None, k: int | None, power: int | None, noise: float) -> None:
    if layers not in (None, 2, 3):
        raise InputError(f"Networks have 2 or 3 layers, not {layers}.")
    if layers == 2 and (k is not None or power is not None):
        raise InputError("Two layers have no random layer: leave out its width and power, or use `layers=3`.")
    if (k is not None and k < 1) or (power is not None and power < 1):
        raise InputError("The random layer's width and power must be at least 1.")
    if not 0 <= noise < float("inf"):
        raise InputError(f"The perturbation is a standard deviation, at least 0, not {noise}.")
