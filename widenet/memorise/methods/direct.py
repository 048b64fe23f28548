"""The global minimum by linear algebra: fit the quadratic form by least squares, then split it into neurons.

The net depends on W through the symmetric Q = W A W^T alone, and its outputs z_j^T Q z_j are linear in Q. So
Q solves a linear least-squares problem in k(k+1)/2 coefficients, and its eigenvectors, scaled by the roots of
their eigenvalues, are at most k neurons of either sign.

Inputs are whitened (see `whitening`) and then scaled to u_j of norm 1. Neither changes what the net can fit,
but the problem becomes one that conjugate gradients solve in few steps: for Gaussian inputs the eigenvalues
of the Gram matrix (UU^T)^{∘2} lie, one apart, within about (1 ± √(2n)/k)².
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.rounding import TINY
from widenet.memorise.methods.method import (
    Clock,
    MethodPlan,
    Route,
    State,
    Targeted,
    begun,
    copied,
    form_operations,
    last_loss,
    tensors,
)
from widenet.memorise.methods.whitening import whitening
from widenet.memorise.problem import SquaresProblem
from widenet.networks.quadratic import curvature, form_outputs, loss
from widenet.study.speed import Speed

DENSE = 4096  # rows up to which the Gram matrix is factorised
ITERATIONS = 20  # of conjugate gradients in one advance
TYPICAL_ITERATIONS = 600  # in all, for a forecast
SWEEP_SHARE = 1e-4  # float32 iterations bring the residual down by this, then it is computed anew in float64
SWEEP_STEPS = 400  # and they are no more than this
STALLED = 0.5  # a correction that leaves more than this share of f is the last
ROW_BLOCK = 8192


@dataclass(frozen=True)
class Direct(Targeted):
    """Least squares for Q: a factorised Gram matrix for few rows, conjugate gradients for many.

    Attributes:
        target: f at which it stops.
        max_steps: Iterations or corrections after which it stops in any case.
    """

    name: ClassVar[str] = "direct"
    target: float = 1e-20
    max_steps: int = 4000

    @classmethod
    def num_bytes(cls, n: int, k: int, r: int) -> int:
        return 3 * 8 * n * n + 2 * 8 * n * k if n <= DENSE else 2 * 8 * n * k + 16 * k * k

    @classmethod
    def seconds(cls, n: int, k: int, r: int, speed: Speed) -> float:
        if n <= DENSE:
            return (2 * n * n * k + n**3 / 3 + 10 * form_operations(n, k)) / speed.double
        return TYPICAL_ITERATIONS * 2 * form_operations(n, k) / speed.single

    def plan(self, problem: SquaresProblem) -> MethodPlan:
        return MethodPlan(self.name, Route.CHOLESKY if problem.n <= DENSE else Route.CONJUGATE_GRADIENTS)

    def start(self, problem: SquaresProblem) -> State:
        T = whitening(problem.Z)
        Q = T.new_zeros(T.shape[1], T.shape[1])
        state = begun(loss(problem.y), T=T, Q=Q, step=0, finished=False)
        return state if problem.n <= DENSE else state | _no_sweep(problem.n, Q)

    def advance(self, problem: SquaresProblem, state: State) -> State:
        if problem.n <= DENSE:
            return _solve_densely(problem, copied(state), self.target)
        return _iterate(problem, copied(state), self.target)

    def weights(self, problem: SquaresProblem, state: State) -> Tensor:
        Q = state["Q"] + _correction(state) if "correction" in state else state["Q"]
        return state["T"] @ neurons(Q, problem.r)


def neurons(Q: Tensor, r: int) -> Tensor:
    """W of shape (k, r) with W A W^T = Q, from the eigenvectors of Q (k, k); unused neurons are 0."""
    eigenvalues, vectors = torch.linalg.eigh(Q)
    scaled = vectors * eigenvalues.abs().sqrt()
    negligible = len(Q) * torch.finfo(Q.dtype).eps * float(eigenvalues.abs().max())
    W = Q.new_zeros(len(Q), r)
    for first, own in ((0, eigenvalues > negligible), (r // 2, eigenvalues < -negligible)):
        count = int(own.sum())
        if count > r // 2:
            raise InputError(
                f"The fitted form has {count} eigenvalues of one sign, but only half of {r} neurons have it: "
                f"take at least {2 * count} neurons."
            )
        W[:, first : first + count] = scaled[:, own]
    return W


def whitened_rows(Z: Tensor, T: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Rows u_j = T^T z_j / ‖T^T z_j‖ in this precision, shape (n, q), and ‖T^T z_j‖², float64, shape (n,)."""
    U = Z.new_empty(len(Z), T.shape[1], dtype=dtype)
    sizes = Z.new_empty(len(Z), dtype=torch.float64)
    for start in range(0, len(Z), ROW_BLOCK):
        rows = slice(start, start + ROW_BLOCK)
        whitened = Z[rows] @ T
        norms = whitened.norm(dim=1).clamp(min=TINY**0.25)  # a row may be zero
        U[rows] = whitened.div_(norms[:, None])
        sizes[rows] = norms.square()
    return U, sizes


def residual_of(problem: SquaresProblem, T: Tensor, Q: Tensor) -> Tensor:
    """y_j − z_j^T T Q T^T z_j in float64, shape (n,)."""
    half = T @ Q @ T.T
    return problem.y - form_outputs(problem.Z, (half + half.T) / 2)


def _solve_densely(problem: SquaresProblem, state: State, target: float) -> State:
    """Q = Σ_j c_j u_j u_j^T with (UU^T)^{∘2} c = residual, corrected until that no longer helps.

    The ridge keeps the factorisation away from rounding; corrections take it off again.
    """
    clock = Clock(state)
    T, Q = state["T"], state["Q"]
    U, sizes = whitened_rows(problem.Z, T, torch.float64)
    G = (U @ U.T).square_()
    G.diagonal().add_(10 * problem.n * torch.finfo(torch.float64).eps)
    factor = torch.linalg.cholesky(G)
    step, f = int(state["step"]), last_loss(state)
    residual = residual_of(problem, T, Q)
    while f > target:
        c = torch.cholesky_solve((residual / sizes)[:, None], factor)[:, 0]
        corrected = Q + problem.n * curvature(U, c)
        residual = residual_of(problem, T, corrected)
        previous, f = f, loss(residual)
        if not f < previous:
            break
        Q, step = corrected, step + 1
        clock.record(step, f)
        if f > STALLED * previous:
            break
    return state | clock.stop(Q=Q, step=step, finished=True)


def _no_sweep(n: int, Q: Tensor) -> State:
    """The entries of the state that a sweep of conjugate gradients needs, before the first one."""
    zeros, numbers = Q.to(torch.float32), {"scale": 0.0, "energy": 0.0, "sweep_loss": math.inf}
    residual = zeros.new_zeros(n)
    return tensors(correction=zeros, direction=zeros.clone(), residual=residual, sweep_step=0, **numbers)


def _correction(state: State) -> Tensor:
    """What the sweep has found so far, to be added to Q."""
    return state["scale"] * state["correction"].to(torch.float64)


def _iterate(problem: SquaresProblem, state: State, target: float) -> State:
    """Some iterations of conjugate gradients on min ‖t − 𝒜E‖, (𝒜E)_j = u_j^T E u_j, 𝒜*ρ = Σ_j ρ_j u_j u_j^T.

    [Björck 1996, Algorithm 7.4.1, CGLS.] A sweep starts from the residual t of Q on the unit rows, scaled to
    norm 1, and runs in float32; then Q + E is the next Q. The norm of the residual falls with every
    iteration, whether or not an exact fit exists.
    """
    clock = Clock(state)
    U, sizes = whitened_rows(problem.Z, state["T"], torch.float32)
    for _ in range(ITERATIONS):
        if int(state["sweep_step"]) == 0:
            state |= _begin_sweep(problem, state, U, sizes)
        state |= _cgls_step(problem.n, state, U)
        f = loss(state["scale"] * state["residual"] * sizes)
        if f <= target or _is_over(state):
            state |= _end_sweep(problem, state)
            f = float(state["sweep_loss"])
        clock.record(int(state["step"]), f)
        if f <= target or bool(state["finished"]):
            break
    return state | clock.stop()


def _begin_sweep(problem: SquaresProblem, state: State, U: Tensor, sizes: Tensor) -> State:
    residual = residual_of(problem, state["T"], state["Q"])
    weighted = residual / sizes
    scale = weighted.norm()
    start = (weighted / scale).to(torch.float32)
    direction = curvature(U, start)
    energy = direction.to(torch.float64).square().sum()
    moving = {"correction": torch.zeros_like(direction), "direction": direction, "residual": start}
    return moving | tensors(scale=scale, energy=energy, sweep_loss=loss(residual))


def _cgls_step(n: int, state: State, U: Tensor) -> State:
    image = form_outputs(U, state["direction"])
    squared = image.to(torch.float64).square().sum()
    length = n * state["energy"] / squared.clamp(min=TINY)  # `curvature` is 𝒜*/n
    residual = state["residual"] - length.to(torch.float32) * image
    slope = curvature(U, residual)
    energy = slope.to(torch.float64).square().sum()
    return {
        "correction": state["correction"] + length.to(torch.float32) * state["direction"],
        "direction": slope
        + (energy / state["energy"].clamp(min=TINY)).to(torch.float32) * state["direction"],
        "residual": residual,
        "energy": energy,
        "step": state["step"] + 1,
        "sweep_step": state["sweep_step"] + 1,
    }


def _is_over(state: State) -> bool:
    small = float(state["residual"].norm()) <= SWEEP_SHARE or float(state["energy"]) == 0
    return small or int(state["sweep_step"]) >= SWEEP_STEPS


def _end_sweep(problem: SquaresProblem, state: State) -> State:
    """Q with the sweep's correction, unless it did not help; the next sweep then would not either."""
    corrected = state["Q"] + _correction(state)
    before, f = float(state["sweep_loss"]), loss(residual_of(problem, state["T"], corrected))
    return tensors(
        Q=corrected if f < before else state["Q"],
        correction=torch.zeros_like(state["correction"]),
        sweep_step=0,
        sweep_loss=min(f, before),
        finished=not f <= STALLED * before,
    )
