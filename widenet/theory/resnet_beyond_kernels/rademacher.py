"""Rademacher complexity of two layers of small Frobenius norm [resnet-beyond-kernels, section 8.2].

The class is F(W; x) = Σ_j a_j σ(⟨W_j, x⟩) with a_j = ±1/√m, half of each sign, ‖W‖_F ≤ B and ‖x‖ ≤ 1. The
section says that its complexity on N samples is at most 2 Σ_j ‖W_j‖/(√m √N) ≤ 2‖W‖_F/√N, the first for given
norms of the rows, the second by Cauchy and Schwarz; the extraction has scattered the formula, and footnote 17
cites others for the proof. With S₊ and S₋ the largest values of ±Σ_i ξ_i σ(⟨w, x_i⟩) over ‖w‖ ≤ 1, for signs
ξ_i, the supremum over the class is known but for these two numbers:

    sup_W 1/N Σ_i ξ_i F(W; x_i) = B/N · √((S₊² + S₋²)/2),

because σ is homogeneous: rows of positive a_j all point where S₊ is taken, those of negative a_j where S₋ is,
and norms in proportion to S₊ and S₋ are best. So any w that is found gives a lower bound on the complexity.
"""

import math

import torch
from torch import Tensor

from widenet.base.memory import require_memory
from widenet.theory.demand import mpf_text
from widenet.theory.entry import Argument
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

NUM_STARTS, NUM_TURNS = 8, 60  # directions from which S is looked for, and steps from each
SHRINK = 0.9  # each step is this much of the one before, the first as long as w itself


def rows_bound(row_norms: Tensor, num_samples: int) -> float:
    """2 Σ_j ‖W_j‖/(√m √N) for the norms of the rows of W, shape (m,)."""
    return 2 * float(row_norms.sum()) / math.sqrt(len(row_norms) * num_samples)


def frobenius_bound(frobenius: float, num_samples: int) -> float:
    """2‖W‖_F/√N."""
    return 2 * frobenius / math.sqrt(num_samples)


def alignments(X: Tensor, signs: Tensor, *, generator: torch.Generator) -> Tensor:
    """Largest Σ_i ξ_i σ(⟨w, x_i⟩) found over ‖w‖ ≤ 1, for signs ξ (t, N) and rows X (N, d), shape (t,).

    Where the neuron is active on the rows with D = 1, the sum is ⟨Σ_i ξ_i D_i x_i, w⟩; so w is turned towards
    that vector, in shorter and shorter steps, from random directions. w = 0 gives 0.
    """
    t, d = len(signs), X.shape[1]
    w = _unit(torch.randn(t, NUM_STARTS, d, generator=generator, dtype=X.dtype))
    best = X.new_zeros(t)
    for turn in range(NUM_TURNS):
        values = w @ X.T
        best = torch.maximum(best, (values.clamp(min=0) * signs[:, None]).sum(-1).amax(-1))
        w = _unit(w + SHRINK**turn * _unit(((values > 0) * signs[:, None]) @ X))
    return best


def _unit(w: Tensor) -> Tensor:
    return w / w.norm(dim=-1, keepdim=True).clamp(min=torch.finfo(w.dtype).tiny)


def rademacher_lower(X: Tensor, frobenius: float, num_signs: int, *, generator: torch.Generator) -> Tensor:
    """B/N √((S₊² + S₋²)/2) for random signs ξ, from below, shape (num_signs,); the complexity is its mean."""
    signs = 2.0 * torch.randint(2, (num_signs, len(X)), generator=generator).to(X.dtype) - 1
    above, below = (alignments(X, each, generator=generator) for each in (signs, -signs))
    return frobenius / len(X) * ((above.square() + below.square()) / 2).sqrt()


@RESNET.states(
    "Section 8.2 and footnote 17",
    "Rademacher complexity of two layers of small Frobenius norm: the bound, and what is measured",
    "resnet-rademacher",
    frobenius=Argument("bound B on ‖W‖_F", low=0.0, high=1e100),
    N=Argument("number of samples", low=1, high=10**6),
    d=Argument("number of coordinates of x, uniform on {±1/√d}^d", low=1, high=10**4),
    num_signs=Argument("number of draws of signs", low=2, high=10**4),
    seed=Argument("seed of what is drawn", low=0, high=2**63 - 1),
)
def rademacher_two_layers(frobenius: float, N: int, d: int, num_signs: int = 20, seed: int = 0) -> Found:
    """2B/√N, whatever the width and the number of coordinates, beside a lower estimate on drawn inputs."""
    require_work(8.0 * num_signs * NUM_STARTS * NUM_TURNS * N * d, "N, d or num_signs")
    require_memory(8 * (3 * num_signs * NUM_STARTS * N + N * d), f"{num_signs} draws of {N:,} signs")
    generator = torch.Generator().manual_seed(seed)
    X = (2.0 * torch.randint(2, (N, d), generator=generator) - 1).double() / math.sqrt(d)
    found = rademacher_lower(X, frobenius, num_signs, generator=generator)
    bound, mean = frobenius_bound(frobenius, N), float(found.mean())
    spread = float(found.std()) / math.sqrt(num_signs)
    return Found(
        bound,
        formula="R_N ≤ 2 Σ_j ‖W_j‖/(√m √N) ≤ 2‖W‖_F/√N",
        filled=f"2 · {mpf_text(frobenius)} / √{N}",
        terms={
            "measured, at least": mean,
            "standard error of it": spread,
            "measured/bound": mean / bound if bound else 0.0,
            "samples at which the bound is 1": (2 * frobenius) ** 2,
        },
        holds=mean - 4 * spread <= bound,
        notes=(
            f"Measured is the mean over {num_signs} draws of signs of B/N √((S₊² + S₋²)/2), with the largest "
            "S₊ and S₋ that were found; other directions can only make it larger.",
            "The bound is for ‖x‖ ≤ 1, any even m and any signs of a; the width does not enter.",
        ),
    )


QUANTITIES = entries(rademacher_two_layers)
