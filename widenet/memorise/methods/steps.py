"""Steps of full-batch descent on g(W) = f(W) + γ/2 ‖W‖_F²: at a constant rate, or to a line's minimum."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from widenet.networks.quadratic import (
    choose_gradient,
    curvature,
    form,
    form_outputs,
    loss,
    neuron_gradient,
    quadratic_outputs,
    signs,
)


@dataclass(frozen=True)
class Iterate:
    """Weights and what is known there."""

    W: Tensor  # shape (k, r)
    delta: Tensor  # residuals δ_j = ŷ_j − y_j, shape (n,)
    value: float  # g(W)
    gradient: Tensor  # ∇g(W), shape (k, r)


class Steps(Protocol):
    """How descent moves; `direction` is what a step hands to the next.

    Attributes:
        to_minimum: Whether steps go to the minimum on their line, so that one that gains nothing ends at a
            stationary point.
    """

    to_minimum: ClassVar[bool]

    def at(self, W: Tensor) -> Iterate: ...

    def step(self, here: Iterate, direction: Tensor) -> tuple[Iterate, Tensor]: ...


@dataclass(frozen=True)
class ConstantSteps:
    """W − η∇g(W), as in Algorithm 1."""

    to_minimum: ClassVar[bool] = False
    Z: Tensor
    y: Tensor
    eta: float
    gamma: float

    def at(self, W: Tensor) -> Iterate:
        delta = quadratic_outputs(self.Z, W) - self.y
        if choose_gradient(len(self.Z), *W.shape) == "form":
            slope = _slope(self.Z, delta, W)
        else:
            slope = neuron_gradient(self.Z, self.y, W)
        value = loss(delta) + self.gamma / 2 * float(W.square().sum())
        return Iterate(W, delta, value, slope.add_(W, alpha=self.gamma))

    def step(self, here: Iterate, direction: Tensor) -> tuple[Iterate, Tensor]:
        return self.at(here.W - self.eta * here.gradient), direction


@dataclass(frozen=True)
class LineSearch:
    """Nonlinear conjugate gradients on f, each step to the minimum on its line.

    Along D the residuals are δ + 2t b + t² c with b_j = z_j^T W A D^T z_j and c_j = z_j^T D A D^T z_j, so f
    is a polynomial of degree 4 in t whose minimum is known from its coefficients. b, c and M are three
    products with Z of 2nk² operations, or 5/8 of that by symmetry; δ comes for free.
    """

    to_minimum: ClassVar[bool] = True
    Z: Tensor
    y: Tensor

    def at(self, W: Tensor) -> Iterate:
        return self._point(W, form_outputs(self.Z, form(W)) - self.y)

    def step(self, here: Iterate, direction: Tensor) -> tuple[Iterate, Tensor]:
        if float((direction * here.gradient).sum()) >= 0:  # no descent: start again
            direction = -here.gradient
        mixed = here.W * _signs_of(here.W) @ direction.T
        b = form_outputs(self.Z, (mixed + mixed.T) / 2)
        c = form_outputs(self.Z, form(direction))
        t = quartic_minimum(here.delta, b, c)
        there = self._point(here.W + t * direction, here.delta + 2 * t * b + t**2 * c)
        change = there.gradient - here.gradient
        # Polak & Ribière, and back to the gradient where their factor is negative.
        beta = max(0.0, float((there.gradient * change).sum() / here.gradient.square().sum()))
        return there, beta * direction - there.gradient

    def _point(self, W: Tensor, delta: Tensor) -> Iterate:
        return Iterate(W, delta, loss(delta), _slope(self.Z, delta, W))


def _signs_of(W: Tensor) -> Tensor:
    return signs(W.shape[1], W.dtype, W.device)


def _slope(Z: Tensor, delta: Tensor, W: Tensor) -> Tensor:
    """∇f = M W A for residuals that are known."""
    return curvature(Z, delta) @ W * _signs_of(W)


def quartic_minimum(delta: Tensor, b: Tensor, c: Tensor) -> float:
    """The t that minimises ‖δ + 2t b + t² c‖² over all of ℝ."""
    terms = torch.stack([delta, 2 * b, c])
    products = (terms @ terms.T).tolist()
    polynomial = np.array(
        [
            products[2][2],
            2 * products[1][2],
            products[1][1] + 2 * products[0][2],
            2 * products[0][1],
            0.0,  # the constant does not move the minimum, and small differences show better without it
        ]
    )
    candidates = [0.0, *(float(root.real) for root in np.roots(np.polyder(polynomial)))]
    return min(candidates, key=lambda t: float(np.polyval(polynomial, t)))
