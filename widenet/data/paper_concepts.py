"""The functions that the papers' experiments and lower bounds are about, as concepts."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.concepts import Concept, Function, Parities, ResidualTarget, ThreeLayerTarget
from widenet.data.inputs import Cube, Inputs, Product, Sphere

MOST_COORDINATES = 10_000
NUM_SIX = 6  # coordinates of the parity of [resnet-beyond-kernels, Section 8.2]
NUM_FOUR = 4  # parities that G multiplies in [resnet-beyond-kernels, Section 8.1]


def resnet_cube(d: int = 30, k: int | None = None, alpha: float = 0.3, beta: float = 1.0) -> Concept:
    """The class of the experiments in [resnet-beyond-kernels, Section 8.1].

    Inputs are uniform on {±1}^d, F(x) = (x1x2, x3x4, …) has k parities, and H = βF + αG(F) with
    G_i(y) = (−1)^i y1y2y3y4. Without learning αG(F) the squared error is kα².

    Args:
        d: Coordinates of x.
        k: Outputs; by default one for each pair of coordinates, else coordinates beyond 2k play no part.
        alpha: α.
        beta: β.
    """
    _require_whole("d", d, 2 * NUM_FOUR, MOST_COORDINATES)
    k = d // 2 if k is None else k
    _require_whole("k", k, NUM_FOUR, d // 2)
    pairs = Parities(tuple((2 * i, 2 * i + 1) for i in range(k)), (1.0,) * k)
    fours = Parities((range(NUM_FOUR),) * k, tuple((-1.0) ** i for i in range(1, k + 1)))
    return Concept(ResidualTarget(pairs, fours, alpha, beta), Cube(d))


def resnet_hard(
    d: int = 100,
    d1: int | None = None,
    k: int = 4,
    alpha: float = 0.3,
    *,
    coordinates: Sequence[int] | None = None,
    background: Inputs | None = None,
) -> Concept:
    """A member of the class that kernels fixed before the labels do not learn [resnet-beyond-kernels, (7.1)].

    Inputs are uniform on {±1/√d}^d1, and the other d − d1 coordinates have any distribution. F(x) is √d times
    k of the first d1 coordinates, and H = F + αG(F) with G_i(y) = y1y2…yk for every i. By Theorem 2 every
    such kernel that sees N ≤ C(d1, k)/1000 rows has squared error above α²/16 on 99% of the class.

    Args:
        d: Coordinates of x.
        d1: Those that may carry the signal; all by default.
        k: Outputs.
        alpha: α.
        coordinates: The k that do carry it, counted from 0; the first by default.
        background: Distribution D2 of the others; uniform on {±1/√d}^(d − d1) by default.
    """
    _require_whole("d", d, 2, MOST_COORDINATES)
    d1 = d if d1 is None else d1
    _require_whole("d1", d1, 2, d)
    _require_whole("k", k, 2, d1)
    chosen = _distinct(coordinates, k, d1)
    side = d**-0.5
    background = background or Cube(d - d1, side)
    if background.d != d - d1:
        raise InputError(f"The background has {background.d} coordinates, but d − d1 is {d - d1}.")
    inner = Parities(tuple((j,) for j in chosen), (1.0,) * k, d**0.5)
    outer = Parities((range(k),) * k, (1.0,) * k)
    return Concept(ResidualTarget(inner, outer, alpha), Product((Cube(d1, side), background)))


def parity6(d: int = 40, *, coordinates: Sequence[int] | None = None) -> Concept:
    """Parity y = d³ x_{i1}x_{i2}…x_{i6}, x uniform on {±1/√d}^d [resnet-beyond-kernels, Section 8.2].

    Args:
        d: Coordinates of x.
        coordinates: The six, counted from 0; the first by default.
    """
    _require_whole("d", d, NUM_SIX, MOST_COORDINATES)
    return Concept(Parities((_distinct(coordinates, NUM_SIX, d),), (1.0,), d**0.5), Cube(d, d**-0.5))


def three_sines() -> Concept:
    """(sin 3x1 + sin 3x2 + sin 3x3 − 2)² cos 7x4 on the unit sphere [beyond-two-layers, Figure 1]."""
    return Concept(_squared_sum_times(Scaled(torch.sin, 3.0), Scaled(torch.cos, 7.0)), Sphere(4))


def three_tanhs() -> Concept:
    """(tanh 8x1 + tanh 8x2 + tanh 8x3 − 2)² tanh 8x4 on the unit sphere [beyond-two-layers, Figure 2]."""
    return Concept(_squared_sum_times(Scaled(torch.tanh, 8.0), Scaled(torch.tanh, 8.0)), Sphere(4))


@dataclass(frozen=True)
class Scaled:
    """z ↦ φ(cz)."""

    function: Function
    factor: float

    def __call__(self, z: Tensor) -> Tensor:
        return self.function(self.factor * z)


def _squared_sum_times(first: Function, second: Function) -> ThreeLayerTarget:
    """(φ1(x1) + φ1(x2) + φ1(x3) − 2)² φ2(x4), which is (4.1) with Φ(z) = (z − 2)²."""
    axes, one = torch.eye(4, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    return ThreeLayerTarget(
        (_square_from_two,),
        (first,) * 3,
        (second,),
        w1=axes[:3],
        w2=axes[3:],
        v1=one.expand(1, 3),
        v2=one,
        a=one,
    )


def _square_from_two(z: Tensor) -> Tensor:
    return (z - 2).square()


def _distinct(coordinates: Sequence[int] | None, k: int, d: int) -> tuple[int, ...]:
    """The coordinates, which must be k distinct ones below d; the first k where None are given."""
    chosen = tuple(range(k)) if coordinates is None else tuple(coordinates)
    if len(set(chosen)) != k or len(chosen) != k or not all(0 <= j < d for j in chosen):
        raise InputError(f"The coordinates are {chosen}, but must be {k} distinct ones from 0 to {d - 1}.")
    return chosen


def _require_whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"{name} is {value}, but must be a whole number from {least} to {most}.")
