"""Lemma 8 of `mild-memorisation`: the leave-one-out distance brackets the smallest singular value.

Of a matrix M with columns v_1, …, v_n the leave-one-out distance l(M) is the least distance of a column from
the span of the others [Definition 5], and l(M)/√n ≤ σ_min(M) ≤ l(M). With M = QR the distance of column i is
1/‖e_iᵀR⁻¹‖, since row i of the pseudoinverse is orthogonal to all other columns and has product 1 with its
own. Lemma 13 uses it for M = [z_1⊗z_1, …, z_n⊗z_n], the problem that is drawn here.
"""

import math

import torch
from torch import Tensor

from widenet.base.memory import require_memory
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

ACCURACY = 1e-6  # relative: both are computed, each with rounding of its own


def leave_one_out_distances(M: Tensor) -> Tensor:
    """Distance of each column of M (rows, n) from the span of the others, shape (n,)."""
    if M.shape[0] < M.shape[1]:
        return M.new_zeros(M.shape[1])
    R = torch.linalg.qr(M, mode="r").R
    inverse = torch.linalg.solve_triangular(R, torch.eye(len(R), dtype=R.dtype), upper=True)
    return 1 / inverse.norm(dim=1).nan_to_num(nan=math.inf)  # a zero on R's diagonal: distance 0


def tensor_squares(Z: Tensor) -> Tensor:
    """[z_1⊗z_1, …, z_n⊗z_n] for rows Z (n, k), by coordinates of the symmetric tensors: (k(k+1)/2, n)."""
    first, second = torch.triu_indices(Z.shape[1], Z.shape[1])
    scale = torch.where(first == second, 1.0, math.sqrt(2)).to(Z.dtype)
    return (Z[:, first] * Z[:, second] * scale).T


def smoothed_features(n: int, d: int, k: int, p: int, v: float, *, generator: torch.Generator) -> Tensor:
    """Rows z = (R(x + e))^p, ‖x‖ = 1 at random, e ~ N(0, vI), R ~ N(0, I), shape (n, k).

    For k = 0 there is no layer: z = x + e, shape (n, d).
    """
    X = torch.randn(n, d, generator=generator, dtype=torch.float64)
    X = X / X.norm(dim=1, keepdim=True)
    X = X + math.sqrt(v) * torch.randn(n, d, generator=generator, dtype=torch.float64)
    if k == 0:
        return X
    return (X @ torch.randn(d, k, generator=generator, dtype=torch.float64)) ** p


@MILD_MEMORISATION.states(
    "Lemma 8",
    "Smallest singular value of a drawn [z⊗z], between l/√n and l of the leave-one-out distance l",
    n=Argument("number of samples", low=1, high=5000),
    d=Argument("dimension of the inputs", low=1, high=10**4),
    k=Argument("number of random neurons, 0 for none", low=0, high=10**4),
    p=Argument("power of the random layer", low=1, high=20),
    v=Argument("variance of the noise on each coordinate", low=0.0, high=1e6),
    seed=Argument("seed of what is drawn", low=0, high=2**63 - 1),
)
def lemma8(n: int, d: int, k: int = 0, p: int = 1, v: float = 0.0, seed: int = 0) -> Found:
    """σ_min of [z_1⊗z_1, …, z_n⊗z_n] for drawn inputs, as computed, and the lemma's two ends."""
    width = k or d
    rows = width * (width + 1) // 2
    require_work(20.0 * rows * min(n, rows) * n, "n or k")
    require_memory(8 * 4 * n * (rows + d), f"A matrix of {rows:,} rows and {n:,} columns")
    generator = torch.Generator().manual_seed(seed)
    M = tensor_squares(smoothed_features(n, d, k, p, v, generator=generator))
    distance = float(leave_one_out_distances(M).min())
    values = torch.linalg.svdvals(M)
    smallest = float(values[-1]) if rows >= n else 0.0
    rounding = float(values[0]) * torch.finfo(M.dtype).eps * max(M.shape)
    hidden = rows >= n and distance <= 4 * rounding * math.sqrt(n)
    return Found(
        smallest,
        formula="l(M)/√n ≤ σ_min(M) ≤ l(M),  l(M) = min_i dist(v_i, span of the other columns)",
        filled=f"{mpf_text(distance / math.sqrt(n))} ≤ {mpf_text(smallest)} ≤ {mpf_text(distance)}",
        terms={
            "l(M)": distance,
            "l(M)/√n": distance / math.sqrt(n),
            "σ_min/l(M)": smallest / distance if distance else 0.0,
            "largest singular value": float(values[0]),
        },
        demands=()
        if hidden
        else (
            Demand("rows of M, k(k+1)/2,", rows, "≥", n, "n"),
            Demand("σ_min(M)", smallest, "≥", distance / math.sqrt(n) * (1 - ACCURACY), "l(M)/√n"),
            Demand("σ_min(M)", smallest, "≤", distance * (1 + ACCURACY), "l(M)"),
        ),
        notes=("Rounding hides σ_min and l(M) here: both are below what float64 can tell from 0.",)
        if hidden
        else (),
    )


QUANTITIES = entries(lemma8)
