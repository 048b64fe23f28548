"""Inequality (13) of `fine-grained` on data.

√(yᵀH∞⁻¹y) ≤ 3 Σ_j p_j |α_j| ‖β_j‖^{p_j} for labels y_i = Σ_j α_j (β_jᵀx_i)^{p_j} with p_j 1 or even.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.brackets import inverse_bracket
from widenet.spectrum.floor import eigenvalue_floor
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import Krylov, lanczos
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.fine_grained.learnable import learnable_power, monomial_bound
from widenet.theory.fine_grained.rows import DATA, ROWS, SEED, h_infinity, take_rows
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import Number, four_digits, mpf
from widenet.theory.stated import Found, entries

NUM_STEPS, NARROW = 200, 1e-6  # of Lanczos, at most, and the relative width at which it stops


@dataclass(frozen=True)
class PowerTarget:
    """g(x) = Σ_j α_j (β_jᵀx)^{p_j}, equation (12)."""

    powers: tuple[int, ...]
    alphas: tuple[float, ...]
    betas: Tensor  # one β_j a row, shape (terms, d)

    def __call__(self, X: Tensor) -> Tensor:
        """Values at the rows of X (n, d), shape (n,)."""
        return (X @ self.betas.T) ** X.new_tensor(self.powers) @ X.new_tensor(self.alphas)

    @property
    def bound(self) -> Number:
        """The right side of (13), 3 Σ_j p_j |α_j| ‖β_j‖^{p_j}."""
        norms = self.betas.norm(dim=1).tolist()
        terms = zip(self.powers, self.alphas, norms, strict=True)
        return sum((monomial_bound(p, alpha, beta) for p, alpha, beta in terms), mpf(0))


def label_norm(X: Tensor, y: Tensor) -> tuple[float, float | None]:
    """√(yᵀH∞⁻¹y) of unit rows X (n, d), from below and above; None where λ_min(H∞) > 0 is not proven."""
    floor = eigenvalue_floor(kernel_by_name("relu2-hidden"), X)

    def closed(krylov: Krylov) -> bool:
        return inverse_bracket(krylov, floor).width() <= NARROW

    steps = min(NUM_STEPS, len(X))
    found = inverse_bracket(
        lanczos(DenseGram(h_infinity(X)), y[:, None], num_steps=steps, stop=closed), floor
    )
    upper = None if found.upper is None else math.sqrt(max(0.0, float(found.upper)))
    return math.sqrt(max(0.0, float(found.lower))), upper


@FINE_GRAINED.states(
    "(13)",
    "Both sides of (13) for a sum of powers on data",
    "fine-grained-equation-13",
    data=DATA,
    n=ROWS,
    powers=Argument("powers p_j", low=1.0, high=100.0),
    alphas=Argument("weights α_j", low=-1e30, high=1e30),
    betas=Argument("norms of the β_j, whose directions are drawn", low=0.0, high=1e3),
    seed=SEED,
)
def equation_13(
    data: str,
    powers: Sequence[float] = (1.0, 2.0),
    alphas: Sequence[float] = (1.0, 1.0),
    betas: Sequence[float] = (1.0, 1.0),
    n: int = 200,
    seed: int = 0,
) -> Found:
    """√(yᵀH∞⁻¹y) of y = g(x) on n rows of data, g a sum of powers (12) in random directions."""
    if not len(powers) == len(alphas) == len(betas) or any(p != int(p) for p in powers):
        raise InputError(
            "A target has a whole power, a weight and a norm for each term, but these are "
            f"{len(powers)} powers, {len(alphas)} weights and {len(betas)} norms."
        )
    require_memory(8 * 3 * n * n, f"H∞ of {n:,} rows")
    generator = torch.Generator().manual_seed(seed)
    X = take_rows(data, n, 0, generator=generator).X
    directions = torch.randn(len(powers), X.shape[1], generator=generator, dtype=torch.float64)
    sizes = X.new_tensor(tuple(betas))[:, None]
    target = PowerTarget(
        tuple(int(p) for p in powers),
        tuple(alphas),
        sizes * directions / directions.norm(dim=1, keepdim=True),
    )
    y = target(X)
    if not bool(y.isfinite().all()):
        raise InputError("The target has values beyond float64 on these rows: take smaller powers or norms.")
    lower, upper = label_norm(X, y)
    left = lower if upper is None else upper
    known = upper is not None or left > target.bound
    learned = all(learnable_power(p) for p in target.powers)
    return Found(
        left,
        formula="√(yᵀH∞⁻¹y) ≤ 3 Σ_j p_j |α_j| ‖β_j‖^{p_j},  y_i = Σ_j α_j (β_jᵀx_i)^{p_j}",
        filled=f"{four_digits(lower)} ≤ √(yᵀH∞⁻¹y)"
        + (f" ≤ {four_digits(upper)}" if upper is not None else "")
        + f", and 3 Σ_j p_j |α_j| ‖β_j‖^{{p_j}} = {four_digits(target.bound)}",
        terms={
            "√(yᵀH⁻¹y) at least": lower,
            **({} if upper is None else {"√(yᵀH⁻¹y) at most": upper}),
            "3 Σ p|α|‖β‖^p": target.bound,
            "left over right side": left / target.bound if target.bound else 0.0,
        },
        demands=(Demand("√(yᵀH⁻¹y)", left, "≤", target.bound, "3 Σ p|α|‖β‖^p"),) if known else (),
        holds=learned if known or not learned else None,
        notes=_notes(known, learned),
    )


def _notes(known: bool, learned: bool) -> tuple[str, ...]:
    return (
        *(
            ()
            if known
            else ("Undecided: the left side is bounded below only, as λ_min(H∞) > 0 is not proven.",)
        ),
        *(() if learned else ("A power is neither 1 nor even, so Corollary 6.2 does not have this target.",)),
    )


QUANTITIES = entries(equation_13)
