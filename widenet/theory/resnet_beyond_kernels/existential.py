"""A wide network near its initialisation that computes F [resnet-beyond-kernels, Lemma E.1].

It moves neuron j by (E.3), with the factor 1/m that the proof adds,

    w⋇_j = 1/m Σ_r a_{r,j} Σ_i a*_{r,i} h_{r,i}(√m⟨w_j⁽⁰⁾, w1_i⟩) w2_i

with h_{r,i} of Lemma E.2, w_j⁽⁰⁾ ~ N(0, I/m) and a_{r,j} ~ N(0, 1). Then G_r, the sum over j of
a_{r,j} ⟨w⋇_j, (x,1)⟩ I[⟨w_j⁽⁰⁾, (x,1)⟩ ≥ 0], has the mean F_r(x) for F of Definition A.1, and an error like
m^{−1/2}.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.memory import require_memory
from widenet.data.concepts import GeneralSums
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.numbers import mpf
from widenet.theory.resnet_beyond_kernels.indicator import ODD_PHI, OddHermite, odd_function
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.smooth.complexity import RESNET_POWER, c_epsilon, c_s
from widenet.theory.smooth.functions import PowerSum
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

NUM_ROWS = 200  # inputs on which a construction is measured


@dataclass(frozen=True)
class Existential:
    """What a construction was measured to do.

    Attributes:
        errors: Σ_r |F_r(x) − G_r|/‖(x,1)‖ of each row, shape (n,).
        errors_of_quarter: The same for the construction from a quarter of the neurons.
        largest_row: ‖W⋇‖_{2,∞}.
        frobenius: ‖W⋇‖_F.
    """

    errors: Tensor
    errors_of_quarter: Tensor
    largest_row: float
    frobenius: float


def existential_step(target: GeneralSums, h: Sequence[Sequence[OddHermite]], A: Tensor, W0: Tensor) -> Tensor:
    """W⋇ of (E.3) over m, shape (m, d + 1), for A (k, m) ~ N(0, 1) and W0 (m, d + 1) ~ N(0, 1/m).

    Args:
        target: F of Definition A.1.
        h: Lemma E.2's function for each φ_{r,i} of the target.
        A: Output weights.
        W0: Hidden weights at initialisation.
    """
    m = W0.shape[0]
    alpha = math.sqrt(m) * W0 @ target.w1.T
    step = torch.zeros_like(W0)
    for r, row in enumerate(h):
        values = torch.stack([each(alpha[:, i]) for i, each in enumerate(row)], dim=1)
        step += A[r][:, None] * (values * target.a[r]) @ target.w2
    return step / m


def existential_outputs(A: Tensor, W0: Tensor, step: Tensor, X: Tensor) -> Tensor:
    """G_r((x, 1); W⋇) = Σ_j a_{r,j} ⟨w⋇_j, (x,1)⟩ I[⟨w_j⁽⁰⁾, (x,1)⟩ ≥ 0] for X (n, d), shape (n, k)."""
    rows = torch.cat([X, X.new_ones(len(X), 1)], dim=1)
    return (rows @ step.T * (rows @ W0.T >= 0)) @ A.T


def measured_existential(
    target: GeneralSums, h: Sequence[Sequence[OddHermite]], m: int, *, generator: torch.Generator
) -> Existential:
    """Draw m neurons, build the network for the target, and measure it on rows of norm 1."""
    k, columns = target.num_outputs, target.w1.shape[1]
    A = torch.randn(k, m, generator=generator, dtype=torch.float64)
    W0 = torch.randn(m, columns, generator=generator, dtype=torch.float64) / math.sqrt(m)
    X = _unit(torch.randn(NUM_ROWS, columns - 1, generator=generator, dtype=torch.float64))
    step = existential_step(target, h, A, W0)
    quarter = slice(m // 4)  # W⋇ has 1/m, and of W0 only directions and √m W0 enter
    fewer = step[quarter] * (m / (m // 4))
    return Existential(
        _errors(target, A, W0, step, X),
        _errors(target, A[:, quarter], W0[quarter], fewer, X),
        float(step.norm(dim=1).max()),
        float(step.norm()),
    )


@RESNET.states(
    "Lemma E.1",
    "Error and movement of a wide network built to compute F, drawn and measured",
    phi=ODD_PHI,
    m=Argument("number of neurons, which are drawn", low=4, high=10**7),
    d=Argument("number of inputs", low=1, high=10**4),
    k=Argument("number of outputs", low=1, high=100),
    p=Argument("number of terms of each output of F", low=1, high=100),
    epsilon=Argument("accuracy ε", low=0.0, high=1.0, strict=True),
    seed=Argument("seed of what is drawn", low=0, high=2**63 - 1),
    c_F="in Õ, with its logarithms, of the bound on ‖W⋇‖_F",
)
def lemma_e_1(
    phi: str,
    m: int,
    d: int,
    k: int = 1,
    p: int = 1,
    epsilon: float = 1e-6,
    seed: int = 0,
    *,
    c_F: float = 1.0,
) -> Found:
    """Largest Σ_r |F_r(x) − G_r|/‖(x,1)‖ over rows, for F with random unit w1, w2 and random |a*| ≤ 1."""
    h, degree, function = odd_function(phi, epsilon)
    require_work(2.0 * m * (2 * k * p * (degree + 1) ** 2 + NUM_ROWS * (d + k)), "m, k or p")
    require_memory(8 * m * (NUM_ROWS + d + k + p * (degree + 3)), f"A network of {m:,} neurons")
    generator = torch.Generator().manual_seed(seed)
    target = _random_target(function, d, k, p, generator)
    found = measured_existential(target, [[h] * p] * k, m, generator=generator)
    of_size = c_s(phi, power=RESNET_POWER, degree=degree)
    C_s = mpf(of_size.value)
    row_bound = k * p * mpf(10) ** (c_epsilon(phi, epsilon, degree=degree).log10 or 0) / m
    bound = c_F * k * p * C_s / math.sqrt(m)
    return Found(
        float(found.errors.max()),
        formula="max_x Σ_r |F_r(x) − G_r((x,1); W⋇)|/‖(x,1)‖;  ‖W⋇‖_{2,∞} ≤ kpC_ε/m,  ‖W⋇‖_F ≤ c_F·kpC_s/√m",
        filled=f"{mpf_text(float(found.errors.max()))} over {NUM_ROWS} rows at m = {m:,}",
        terms={
            "mean error": float(found.errors.mean()),
            "largest error with a quarter of the neurons": float(found.errors_of_quarter.max()),
            "mean error with a quarter of the neurons": float(found.errors_of_quarter.mean()),
            "‖W⋇‖_{2,∞}": found.largest_row,
            "kpC_ε/m": row_bound,
            "‖W⋇‖_F": found.frobenius,
            "c_F·kpC_s/√m": bound,
        },
        demands=(
            Demand("ε", epsilon, "<", 1 / (p * k * C_s) if C_s else math.inf, "1/(pkC_s)"),
            Demand("‖W⋇‖_{2,∞}", found.largest_row, "≤", row_bound, "kpC_ε/m"),
            Demand("‖W⋇‖_F", found.frobenius, "≤", bound, "c_F·kpC_s/√m"),
        ),
        notes=(
            "The lemma has an error of at most ε from a width M on, a polynomial in C_ε and 1/ε that the "
            "paper does not write down; measured, the error falls like 1/√m.",
        ),
        constants=of_size.constants,
    )


def _random_target(phi: PowerSum, d: int, k: int, p: int, generator: torch.Generator) -> GeneralSums:
    """F of Definition A.1 with one φ for all terms."""
    w1, w2 = (_unit(torch.randn(p, d + 1, generator=generator, dtype=torch.float64)) for _ in range(2))
    a = 2 * torch.rand(k, p, generator=generator, dtype=torch.float64) - 1
    return GeneralSums(((phi,) * p,) * k, w1, w2, a)


def _errors(target: GeneralSums, A: Tensor, W0: Tensor, step: Tensor, X: Tensor) -> Tensor:
    """Σ_r |F_r(x) − G_r|/‖(x,1)‖ of each row, shape (n,)."""
    gaps = target.evaluate(X) - existential_outputs(A, W0, step, X)
    return gaps.abs().sum(1) / (1 + X.square().sum(1)).sqrt()


def _unit(rows: Tensor) -> Tensor:
    return rows / rows.norm(dim=1, keepdim=True)


QUANTITIES = entries(lemma_e_1)
