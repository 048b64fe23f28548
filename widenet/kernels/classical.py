"""The classical kernels of [resnet-beyond-kernels, section 3.1]."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.moments import Moments, OfMoments, cosines_


@dataclass(frozen=True)
class OfDistance(OfMoments):
    """A function of ‖x − z‖ with a scale h."""

    h: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.h < math.inf:
            raise InputError(f"h is {self.h:g}, but must be positive and finite.")

    @property
    def name(self) -> str:
        return f"{type(self).__name__.lower()}:h={self.h:g}"


class Gaussian(OfDistance):
    """exp(−‖x − z‖²/h). On the unit sphere ‖x − z‖² lies in [0, 4], and is about 2 for unrelated rows."""

    def _value(self, moments: Moments) -> Tensor:
        return half_squared_distances_(moments).mul_(-2 / self.h).exp_()


class Laplacian(OfDistance):
    """exp(−‖x − z‖/h)."""

    def _value(self, moments: Moments) -> Tensor:
        return half_squared_distances_(moments).mul_(2).sqrt_().mul_(-1 / self.h).exp_()


@dataclass(frozen=True)
class Arcsin(OfMoments):
    """arcsin(⟨x, z⟩/‖x‖‖z‖)."""

    name = "arcsin"

    def _value(self, moments: Moments) -> Tensor:
        if moments.semivariance is None:
            return cosines_(moments.nngp, moments.diag_x, moments.diag_z).arcsin_()
        # arcsin(cos θ) = π/2 − θ, with sin²(θ/2) = (½‖x−z‖² − ½(‖x‖−‖z‖)²)/2‖x‖‖z‖
        norm_x, norm_z = torch.as_tensor(moments.diag_x).sqrt(), torch.as_tensor(moments.diag_z).sqrt()
        scale = norm_x * norm_z
        gap = (moments.semivariance - (norm_x - norm_z).square() / 2) / scale
        angle = 2 * (gap.clamp(0, 2) / 2).sqrt().arcsin()
        return torch.where(scale > 0, math.pi / 2 - angle, 0.0)


@dataclass(frozen=True)
class Polynomial(OfMoments):
    """(⟨x, z⟩ + offset)^degree."""

    degree: int = 3
    offset: float = 1.0

    def __post_init__(self) -> None:
        if self.degree != int(self.degree) or not 1 <= self.degree <= 100:
            raise InputError(f"degree is {self.degree:g}, but must be a whole number from 1 to 100.")
        if not 0 <= self.offset < math.inf:
            raise InputError(f"offset is {self.offset:g}, but must be finite and not negative.")

    @property
    def name(self) -> str:
        return f"polynomial:degree={self.degree},offset={self.offset:g}"

    def _value(self, moments: Moments) -> Tensor:
        return moments.nngp.add_(self.offset).pow_(self.degree)


def reciprocal_recursion(kernel: Tensor) -> Tensor:
    """g(K) = 1/(2 − K), the stock recursion [zhang2016l1]: positive Taylor coefficients, and g(1) = 1."""
    return (2 - kernel).reciprocal()


@dataclass(frozen=True)
class Recursive(OfMoments):
    """K0 = ⟨x, z⟩ on the unit ball, then `depth` times K ← g(K), for any g that keeps kernels kernels."""

    depth: int = 2
    recursion: Callable[[Tensor], Tensor] = reciprocal_recursion

    def __post_init__(self) -> None:
        if self.depth != int(self.depth) or not 1 <= self.depth <= 1000:
            raise InputError(f"depth is {self.depth:g}, but must be a whole number from 1 to 1000.")

    @property
    def name(self) -> str:
        return f"recursive:depth={self.depth}"

    def _value(self, moments: Moments) -> Tensor:
        for diag in (moments.diag_x, moments.diag_z):
            if isinstance(diag, Tensor) and bool((diag > 1 + 1e-6).any()):
                raise InputError(
                    f"The recursive kernel needs rows of norm at most 1, but one has norm "
                    f"{float(diag.max()) ** 0.5:.4g}; scale the rows first."
                )
        kernel = moments.nngp
        for _ in range(self.depth):
            kernel = self.recursion(kernel)
        return kernel


@dataclass(frozen=True)
class RandomFeatures:
    """The mean of φ_w(x) φ_w(z) over drawn w, an estimate of E_w φ_w(x) φ_w(z).

    Attributes:
        features: φ, from rows X (n, d) and weights (p, d) to features of shape (n, p).
        weights: The drawn w, one a row, in the dtype of the rows to come.
        name: What to call the kernel.
    """

    features: Callable[[Tensor, Tensor], Tensor]
    weights: Tensor
    name: str = "random-features"

    def tile(self, X: Tensor, Z: Tensor) -> Tensor:
        return self.features(X, self.weights) @ self.features(Z, self.weights).T / len(self.weights)

    def diag(self, X: Tensor) -> Tensor:
        return self.features(X, self.weights).square().mean(dim=1)


def half_squared_distances_(moments: Moments) -> Tensor:
    """½‖x − z‖², possibly in the memory of `moments.nngp`."""
    if moments.semivariance is not None:
        return moments.semivariance.clone()
    distances = moments.nngp.neg_()
    if isinstance(moments.diag_x, float) and isinstance(moments.diag_z, float):
        distances += (moments.diag_x + moments.diag_z) / 2
    else:
        distances.add_(moments.diag_x, alpha=0.5).add_(moments.diag_z, alpha=0.5)
    return distances.clamp_(min=0)
