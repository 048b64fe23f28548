"""Layers of infinitely wide networks, as maps of moments, in the NTK parametrisation.

A unit of a wide Dense layer is a Gaussian process over inputs; of it an activation needs, for two inputs,
only the 2x2 covariance [cho2009kernel; jacot2018ntk, Theorem 1].
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.moments import Diagonal, Moments, cosines_

# sin t − t cos t = t³ Σ_k c_k t^{2k}; ten terms reach rounding for 0 <= t <= 1.
SINE_SERIES = [(-1) ** k * 2 * (k + 1) / math.factorial(2 * k + 3) for k in range(10)]


class Layer(Protocol):
    """A map of moments; `trained` yields, for each Dense layer in turn, whether its weights are trained."""

    @property
    def num_dense(self) -> int:
        """How many Dense layers are inside."""

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments: ...


@dataclass(frozen=True)
class Dense:
    """u = √(weight_var / width) W h + √bias_var b, with W and b standard normal; the input layer has width 1.

    Σ ← weight_var Σ + bias_var, and Θ ← weight_var Θ, plus Σ where the layer is trained.
    """

    weight_var: float = 1.0
    bias_var: float = 0.0
    num_dense = 1

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments:
        nngp = _affine_(moments.nngp, self.weight_var, self.bias_var)
        ntk = None if moments.ntk is None else _affine_(moments.ntk, self.weight_var, 0.0)
        if next(trained):
            ntk = nngp.clone() if ntk is None else ntk.add_(nngp)
        semivariance = moments.semivariance
        return Moments(
            nngp,
            ntk,
            moments.diag_x * self.weight_var + self.bias_var,
            moments.diag_z * self.weight_var + self.bias_var,
            None if semivariance is None else semivariance * self.weight_var,
        )


@dataclass(frozen=True)
class Relu:
    """σ(u) = max(u, 0): the arc-cosine kernels of order 0 and 1 [cho2009kernel, equations 3 and 6].

    With θ the angle between u(x) and u(z), Σ̇ = (π − θ)/2π and
    Σ = √(Σ(x,x) Σ(z,z)) (sin θ + (π − θ) cos θ)/2π.
    """

    num_dense = 0

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments:
        if moments.semivariance is not None:
            return _relu_of_close_pairs(moments, moments.semivariance)
        diag_x, diag_z = moments.diag_x, moments.diag_z
        cosine = cosines_(moments.nngp, diag_x, diag_z)
        # π − θ and sin θ in forms that keep their relative accuracy at both ends.
        supplement = cosine.neg().arccos_()
        sine = (1 - cosine).mul_(1 + cosine).sqrt_()
        nngp = sine.addcmul_(cosine, supplement)
        if float(supplement.min()) < 1:  # sin θ and (π − θ) cos θ cancel near θ = π
            opposite = supplement < 1
            nngp[opposite] = sine_excess(supplement[opposite])
        nngp *= 1 / (2 * math.pi)
        for diag in (diag_x, diag_z):
            if isinstance(diag, Tensor) or diag != 1:
                nngp *= diag**0.5
        ntk = None if moments.ntk is None else moments.ntk.mul_(supplement.mul_(1 / (2 * math.pi)))
        return Moments(nngp, ntk, diag_x / 2, diag_z / 2)


def _relu_of_close_pairs(moments: Moments, semivariance: Tensor) -> Moments:
    """The same from δ = ½E(u(x) − u(z))² instead of Σ.

    With a = √Σ(x,x) and b = √Σ(z,z), 1 − cos θ = (δ − (a − b)²/2)/ab and
    δ ← (a − b)²/4 + ab ((1 − cos θ)/2 − (sin θ − θ cos θ)/2π).
    """
    norm_x, norm_z = torch.as_tensor(moments.diag_x).sqrt(), torch.as_tensor(moments.diag_z).sqrt()
    scale, spread = norm_x * norm_z, (norm_x - norm_z).square() / 2
    smallest = torch.finfo(scale.dtype).tiny
    gap = ((semivariance - spread) / scale.clamp_min(smallest)).clamp(0, 2)
    angle = 2 * (gap / 2).sqrt().arcsin()
    semivariance = spread / 2 + scale * (gap / 2 - sine_excess(angle) / (2 * math.pi))
    ntk = None if moments.ntk is None else moments.ntk * (0.5 - angle / (2 * math.pi))
    diag_x, diag_z = moments.diag_x / 2, moments.diag_z / 2
    return Moments((diag_x + diag_z) / 2 - semivariance, ntk, diag_x, diag_z, semivariance)


def sine_excess(angle: Tensor) -> Tensor:
    """Values of sin t − t cos t for t in [0, π], to rounding also where it is about t³/3."""
    square = angle.square()
    series = torch.full_like(angle, SINE_SERIES[-1])
    for coefficient in SINE_SERIES[-2::-1]:
        series = series * square + coefficient
    return torch.where(angle < 1, angle * square * series, angle.sin() - angle * angle.cos())


@dataclass(frozen=True)
class Erf:
    """σ(u) = erf(u) [williams1997infinite, equation 11].

    With r = 2Σ/√((1 + 2Σ(x,x))(1 + 2Σ(z,z))), Σ ← (2/π) arcsin r and
    Σ̇ = (4/π)/√((1 + 2Σ(x,x))(1 + 2Σ(z,z)) − 4Σ²). Nothing here is singular where x and z come together.
    """

    num_dense = 0

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments:
        norm_x, norm_z = (1 + 2 * moments.diag_x) ** 0.5, (1 + 2 * moments.diag_z) ** 0.5
        ratio = moments.nngp.mul_(2).div_(norm_x).div_(norm_z).clamp_(-1, 1)
        ntk = moments.ntk
        if ntk is not None:
            derivative = (1 - ratio).mul_(1 + ratio).rsqrt_().mul_(4 / math.pi)
            ntk = ntk.mul_(derivative).div_(norm_x).div_(norm_z)
        nngp = ratio.arcsin_().mul_(2 / math.pi)
        diag_x, diag_z = _erf_diagonal(moments.diag_x), _erf_diagonal(moments.diag_z)
        semivariance = moments.semivariance
        if semivariance is not None:
            semivariance = ((diag_x + diag_z) / 2 - nngp).clamp_min(0)
        return Moments(nngp, ntk, diag_x, diag_z, semivariance)


def _erf_diagonal(diag: Diagonal) -> Diagonal:
    ratio = 2 * diag / (1 + 2 * diag)
    return (2 / math.pi) * (ratio.arcsin() if isinstance(ratio, Tensor) else math.asin(ratio))


class Residual:
    """u + branch(u), two uncorrelated terms, since the branch ends in a Dense layer with its own weights."""

    def __init__(self, *layers: Layer) -> None:
        if not layers or not isinstance(layers[-1], Dense):
            raise InputError("The branch of a Residual must end in a Dense layer; append one.")
        self.layers = layers
        self.num_dense = sum(layer.num_dense for layer in layers)

    def __repr__(self) -> str:
        return f"Residual({', '.join(map(repr, self.layers))})"

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments:
        branch = moments.clone()
        for layer in self.layers:
            branch = layer(branch, trained)
        return Moments(
            moments.nngp + branch.nngp,
            _sum(moments.ntk, branch.ntk),
            moments.diag_x + branch.diag_x,
            moments.diag_z + branch.diag_z,
            _sum(moments.semivariance, branch.semivariance),
        )


def _sum(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """The sum of the terms that are there."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _affine_(values: Tensor, factor: float, shift: float) -> Tensor:
    """Overwrite by factor · values + shift, passing over the data only as often as needed."""
    if factor != 1:
        values *= factor
    if shift != 0:
        values += shift
    return values
