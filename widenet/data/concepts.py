"""Concept classes: the functions that the papers learn, with the inputs they learn them on.

A target is a function from rows X (n, d) to outputs (n, k), in the dtype and on the device of X. A `Concept`
joins it to a distribution of inputs and to label noise, so that it can be sampled. Smooth functions φ are
callables that work elementwise on tensors.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.inputs import Inputs

Function = Callable[[Tensor], Tensor]


class Target(Protocol):
    """A function from inputs to k numbers."""

    @property
    def num_outputs(self) -> int:
        """The number k of outputs."""

    def evaluate(self, X: Tensor) -> Tensor:
        """Outputs of shape (n, k) for rows X (n, d)."""


@dataclass(frozen=True)
class Concept:
    """A target with the distribution of its inputs.

    Attributes:
        target: The function.
        inputs: Where its inputs come from; `dataclasses.replace` puts any other distribution here.
        noise: Standard deviation of the independent Gaussian noise on each output of a sample. With it the
            target itself has squared error OPT = k · noise², and no function has less.
    """

    target: Target
    inputs: Inputs
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.noise < math.inf:
            raise InputError(f"noise is {self.noise:g}, but must be finite and not negative.")

    @property
    def d(self) -> int:
        """Coordinates of the inputs."""
        return self.inputs.d

    @property
    def num_outputs(self) -> int:
        """The number k of outputs."""
        return self.target.num_outputs

    def evaluate(self, X: Tensor) -> Tensor:
        """The target without noise, shape (n, k), for rows X (n, d)."""
        return self.target.evaluate(X)

    def sample(self, n: int, *, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Independent inputs (n, d) and their outputs (n, k), float64."""
        X = self.inputs.draw(n, generator=generator)
        Y = self.evaluate(X)
        if self.noise:
            Y = Y + self.noise * torch.randn(Y.shape, generator=generator, dtype=Y.dtype)
        return X, Y


@dataclass(frozen=True)
class Parities:
    """Output r is s_r Π_{j ∈ S_r} c x_j: a parity of the coordinates S_r where inputs lie on {±1/c}^d.

    Attributes:
        subsets: S_r for each output, coordinates counted from 0.
        signs: s_r for each output.
        factor: c.
    """

    subsets: Sequence[Sequence[int]]
    signs: Sequence[float]
    factor: float = 1.0

    @property
    def num_outputs(self) -> int:
        return len(self.subsets)

    def evaluate(self, X: Tensor) -> Tensor:
        scaled = self.factor * X
        products = [scaled[:, list(subset)].prod(dim=1) for subset in self.subsets]
        return torch.stack(products, dim=1) * X.new_tensor(self.signs)


@dataclass(frozen=True)
class ResidualTarget:
    """H(x) = βF(x) + αG(F(x)) [resnet-beyond-kernels, Concepts 1 and 2, there with β = 1].

    Attributes:
        inner: F, from R^d to R^k.
        outer: G, from R^k to R^k.
        alpha: α.
        beta: β, as in the second experiment of Section 8.1.
    """

    inner: Target
    outer: Target
    alpha: float
    beta: float = 1.0

    @property
    def num_outputs(self) -> int:
        return self.outer.num_outputs

    def evaluate(self, X: Tensor) -> Tensor:
        hidden = self.inner.evaluate(X)
        return self.beta * hidden + self.alpha * self.outer.evaluate(hidden)


class _Weighted:
    """A target whose outputs are sums with weights `a`, one row for each output."""

    a: Tensor

    @property
    def num_outputs(self) -> int:
        return self.a.shape[0]


@dataclass(frozen=True)
class RidgeSums(_Weighted):
    """F_r(x) = Σ_i a_{r,i} φ_{r,i}(⟨w_{r,i}, x⟩) [resnet-beyond-kernels, (5.1) and (5.2)].

    The paper takes |a| ≤ 1, ‖w‖ = 1/√2 and ‖x‖ = ‖F(x)‖ = 1; other scales belong into φ.

    Attributes:
        functions: φ, p for each of k outputs.
        w: Shape (k, p, d).
        a: Shape (k, p).
    """

    functions: Sequence[Sequence[Function]]
    w: Tensor
    a: Tensor

    def __post_init__(self) -> None:
        k, p = len(self.functions), len(self.functions[0])
        _require_shapes((self.w, "w", (k, p, None)), (self.a, "a", (k, p)))

    def evaluate(self, X: Tensor) -> Tensor:
        projections = torch.einsum("nd,kpd->nkp", X, self.w.to(X))
        units = [_each(row, projections[:, r]) for r, row in enumerate(self.functions)]
        return (torch.stack(units, dim=1) * self.a.to(X)).sum(-1)


@dataclass(frozen=True)
class GeneralSums(_Weighted):
    """F_r(x) = Σ_i a_{r,i} φ_{r,i}(⟨w1_i, (x,1)⟩/‖(x,1)‖) ⟨w2_i, (x,1)⟩ [resnet-beyond-kernels, Def. A.1].

    The paper takes |a| ≤ 1, ‖w1‖ = ‖w2‖ = 1, and φ with a constant and odd powers only.

    Attributes:
        functions: φ, p for each of k outputs.
        w1: Shape (p, d + 1).
        w2: Shape (p, d + 1).
        a: Shape (k, p).
    """

    functions: Sequence[Sequence[Function]]
    w1: Tensor
    w2: Tensor
    a: Tensor

    def __post_init__(self) -> None:
        k, p = len(self.functions), len(self.functions[0])
        _require_shapes(
            (self.w1, "w1", (p, None)), (self.w2, "w2", (p, self.w1.shape[-1])), (self.a, "a", (k, p))
        )

    def evaluate(self, X: Tensor) -> Tensor:
        with_one = torch.cat([X, X.new_ones(len(X), 1)], dim=1)
        cosines = with_one / with_one.norm(dim=1, keepdim=True) @ self.w1.T.to(X)
        units = torch.stack([_each(row, cosines) for row in self.functions], dim=1)
        return (units * self.a.to(X) * (with_one @ self.w2.T.to(X))[:, None]).sum(-1)


@dataclass(frozen=True)
class TwoLayerTarget(_Weighted):
    """f_r(x) = Σ_i a_{r,i} φ_i(⟨w1_i, x⟩) ⟨w2_i, x⟩ [beyond-two-layers, (3.1)].

    The paper takes |a| ≤ 1, ‖w1‖ = ‖w2‖ = ‖x‖ = 1 and x_d = 1/2.

    Attributes:
        functions: φ, one for each of p units.
        w1: Shape (p, d).
        w2: Shape (p, d).
        a: Shape (k, p).
    """

    functions: Sequence[Function]
    w1: Tensor
    w2: Tensor
    a: Tensor

    def __post_init__(self) -> None:
        p = len(self.functions)
        _require_shapes(
            (self.w1, "w1", (p, None)), (self.w2, "w2", (p, self.w1.shape[-1])), (self.a, "a", (None, p))
        )

    def evaluate(self, X: Tensor) -> Tensor:
        units = _each(self.functions, X @ self.w1.T.to(X)) * (X @ self.w2.T.to(X))
        return units @ self.a.T.to(X)


@dataclass(frozen=True)
class ThreeLayerTarget(_Weighted):
    """f_r(x) = Σ_i a_{r,i} Φ_i(Σ_j v1_{i,j} φ1_j(⟨w1_j, x⟩)) · (Σ_j v2_{i,j} φ2_j(⟨w2_j, x⟩)).

    This is (4.1) of [beyond-two-layers], where |a| ≤ 1 and the rows of w1, w2, v1, v2 have norm 1.

    Attributes:
        outer: Φ, one for each of p1 products.
        inner1: φ1, one for each of q1 units.
        inner2: φ2, one for each of q2 units; the paper has q1 = q2 = p2.
        w1: Shape (q1, d).
        w2: Shape (q2, d).
        v1: Shape (p1, q1).
        v2: Shape (p1, q2).
        a: Shape (k, p1).
    """

    outer: Sequence[Function]
    inner1: Sequence[Function]
    inner2: Sequence[Function]
    w1: Tensor
    w2: Tensor
    v1: Tensor
    v2: Tensor
    a: Tensor

    def __post_init__(self) -> None:
        p1, q1, q2 = len(self.outer), len(self.inner1), len(self.inner2)
        _require_shapes(
            (self.w1, "w1", (q1, None)),
            (self.w2, "w2", (q2, self.w1.shape[-1])),
            (self.v1, "v1", (p1, q1)),
            (self.v2, "v2", (p1, q2)),
            (self.a, "a", (None, p1)),
        )

    def evaluate(self, X: Tensor) -> Tensor:
        first = _each(self.inner1, X @ self.w1.T.to(X)) @ self.v1.T.to(X)
        second = _each(self.inner2, X @ self.w2.T.to(X)) @ self.v2.T.to(X)
        return (_each(self.outer, first) * second) @ self.a.T.to(X)


@dataclass(frozen=True)
class GeneralThreeLayerTarget(ThreeLayerTarget):
    """The same with φ1_j(⟨w1_j, x⟩)⟨w3_j, x⟩ and φ2_j(⟨w2_j, x⟩)⟨w4_j, x⟩ in place of φ1_j and φ2_j.

    This is the general form of [beyond-two-layers, remark 4.2], which requires ⟨w1_j, w3_j⟩ = 0 for each j.

    Attributes:
        w3: Shape (q1, d).
        w4: Shape (q2, d).
    """

    w3: Tensor
    w4: Tensor

    def __post_init__(self) -> None:
        super().__post_init__()
        d = self.w1.shape[-1]
        _require_shapes((self.w3, "w3", (len(self.inner1), d)), (self.w4, "w4", (len(self.inner2), d)))

    def evaluate(self, X: Tensor) -> Tensor:
        first = _each(self.inner1, X @ self.w1.T.to(X)) * (X @ self.w3.T.to(X))
        second = _each(self.inner2, X @ self.w2.T.to(X)) * (X @ self.w4.T.to(X))
        outer = _each(self.outer, first @ self.v1.T.to(X))
        return (outer * (second @ self.v2.T.to(X))) @ self.a.T.to(X)


def _each(functions: Sequence[Function], Z: Tensor) -> Tensor:
    """φ_i of column i of Z (n, p), shape (n, p)."""
    columns = [function(column) for function, column in zip(functions, Z.unbind(1), strict=True)]
    return torch.stack(columns, dim=1)


def _require_shapes(*checks: tuple[Tensor, str, tuple[int | None, ...]]) -> None:
    """Refuse the first tensor whose shape is not the one wanted, where None stands for any size."""
    for tensor, name, wanted in checks:
        fits = tensor.ndim == len(wanted) and all(
            size in (None, found) for size, found in zip(wanted, tensor.shape, strict=True)
        )
        if not fits:
            sizes = ", ".join("any" if size is None else str(size) for size in wanted)
            raise InputError(f"{name} has shape {tuple(tensor.shape)}, but the functions need ({sizes}).")
