"""Functions that a wide two-layer network provably learns [fine-grained, section 6].

For y = g(x) on the unit sphere, yᵀH∞⁻¹y ≤ M_g whatever the rows are, and O((M_g + log(1/δ))/ε²) samples bring
the population loss to ε. M_g is the square of the bound (13) on √(yᵀH∞⁻¹y); Examples 6.2 to 6.4 print it
without the square.
"""

from collections.abc import Sequence

from widenet.base.errors import InputError
from widenet.theory.demand import Demand, all_met, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import Number, context, mpf
from widenet.theory.stated import Found, Paper, entries

EPSILON, FAILURE = 0.1, 0.01  # population loss and failure probability where none are given
SECTION_6 = Paper(
    FINE_GRAINED.id,
    FINE_GRAINED.prefix,
    {
        "p": Argument("power", low=1),
        "alpha": Argument("weight α"),
        "beta": Argument("norm of β", low=0.0),
        "powers": Argument("powers p_j", low=1.0),
        "alphas": Argument("weights α_j"),
        "betas": Argument("norms of the β_j", low=0.0),
        "eigenvalues": Argument("eigenvalues of A"),
        "epsilon": Argument("population loss to reach", low=0.0, strict=True),
        "delta": FINE_GRAINED.symbols["delta"],
        "C": Argument(
            "constant that the paper hides, in the number of samples",
            low=0.0,
            strict=True,
            hidden="in the number of samples, O(…)",
        ),
    },
)


@SECTION_6.states("Theorem 6.1", "Bound on √(yᵀH⁻¹y) for α(βᵀx)^p")
def theorem_6_1(p: int, alpha: float, beta: float) -> Found:
    """Bound on √(yᵀH∞⁻¹y) for y = α(βᵀx)^p, p = 1 or even, β by its norm."""
    bound = monomial_bound(p, alpha, beta)
    sharper = (2 if p == 1 else context.sqrt(2 * context.pi) * (p - 1)) * abs(alpha) * mpf(beta) ** p
    return Found(
        bound,
        formula="√(yᵀH∞⁻¹y) ≤ 3p|α| ‖β‖^p",
        filled=f"3 · {p} · {mpf_text(abs(alpha))} · {mpf_text(beta)}^{p}",
        terms={"M_g": bound**2, "with the constant of the proof": sharper},
        notes=(_power_words((p,)),),
        holds=learnable_power(p),
    )


def learnable_power(p: int) -> bool:
    """Whether H∞ has the power p: 1 and the even ones."""
    return p == 1 or (p > 0 and p % 2 == 0)


def _power_words(powers: Sequence[int]) -> str:
    odd = [p for p in powers if not learnable_power(p)]
    if odd:
        return f"The power {odd[0]} is neither 1 nor even, and the Taylor series of H∞ has no other powers."
    return "All powers are 1 or even, which H∞ has in its Taylor series."


def monomial_bound(p: int, alpha: float, beta: Number | float) -> Number:
    """3p|α| ‖β‖^p."""
    return 3 * p * abs(mpf(alpha)) * mpf(beta) ** p


@SECTION_6.states("Corollary 6.2", "M_g and samples of a sum of powers")
def corollary_6_2(
    powers: Sequence[float],
    alphas: Sequence[float],
    betas: Sequence[float],
    epsilon: float = EPSILON,
    delta: float = FAILURE,
    C: float = 1.0,
) -> Found:
    """M_g for g(x) = Σ_j α_j (β_jᵀx)^{p_j}, each β_j by its norm, and the samples it implies."""
    if not len(powers) == len(alphas) == len(betas) or any(p != int(p) for p in powers):
        raise InputError(
            "A target has a whole power, a weight and a norm for each term, but these are "
            f"{len(powers)} powers, {len(alphas)} weights and {len(betas)} norms."
        )
    whole = tuple(int(p) for p in powers)
    parts = [monomial_bound(p, a, b) for p, a, b in zip(whole, alphas, betas, strict=True)]
    return _target(
        sum(parts, mpf(0)),
        "√M_g = 3 Σ_j p_j |α_j| ‖β_j‖^{p_j}",
        " + ".join(mpf_text(part) for part in parts),
        (epsilon, delta, C),
        holds=all(learnable_power(p) for p in whole),
        notes=(_power_words(whole),),
    )


@SECTION_6.states("Example 6.1", "M_g and samples of βᵀx")
def example_6_1(beta: float, epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0) -> Found:
    """M_g of a linear function g(x) = βᵀx."""
    return _target(3 * mpf(beta), "√M_g = 3‖β‖", f"3 · {mpf_text(beta)}", (epsilon, delta, C))


@SECTION_6.states("Example 6.2", "M_g and samples of xᵀAx")
def example_6_2(
    eigenvalues: Sequence[float], epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0
) -> Found:
    """M_g of a quadratic form g(x) = xᵀAx, A by its eigenvalues: 36 times its squared trace norm."""
    trace_norm = sum((abs(mpf(value)) for value in eigenvalues), mpf(0))
    return _target(6 * trace_norm, "√M_g = 6 ‖A‖_*", f"6 · {mpf_text(trace_norm)}", (epsilon, delta, C))


@SECTION_6.states("Example 6.3", "M_g and samples of cos(βᵀx) − 1")
def example_6_3(beta: float, epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0) -> Found:
    """M_g of g(x) = cos(βᵀx) − 1; Σ_j 2j ‖β‖^{2j}/(2j)! = ‖β‖ sinh ‖β‖."""
    b = mpf(beta)
    return _target(
        3 * b * context.sinh(b),
        "√M_g = 3 Σ_j 2j ‖β‖^{2j}/(2j)! = 3 ‖β‖ sinh ‖β‖",
        f"3 · {mpf_text(b)} · sinh {mpf_text(b)}",
        (epsilon, delta, C),
    )


@SECTION_6.states("Example 6.4", "M_g and samples of βᵀx · arctan(βᵀx/2)")
def example_6_4(beta: float, epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0) -> Found:
    """M_g of g(x) = βᵀx · arctan(βᵀx/2), which `beyond-two-layers` has no bound for.

    With b = ‖β‖/2, Σ_j 2j/(2j − 1) 2 b^{2j} = 2(b²/(1 − b²) + b artanh b).
    """
    demands = (Demand("‖β‖", beta, "≤", 1.0),)
    b = mpf(beta) / 2
    root = 6 * (b**2 / (1 - b**2) + b * context.atanh(b)) if b < 1 else mpf("inf")
    return _target(
        root,
        "√M_g = 3 Σ_j 2j · 2^{1−2j}/(2j−1) ‖β‖^{2j} = 6(b²/(1−b²) + b artanh b),  b = ‖β‖/2",
        f"6 · ({mpf_text(b)}² / (1 − {mpf_text(b)}²) + {mpf_text(b)} · artanh {mpf_text(b)})",
        (epsilon, delta, C),
        demands=demands,
    )


def num_samples(M_g: Number | float, epsilon: float, delta: float, C: float = 1.0) -> Number:
    """C(M_g + log(1/δ))/ε² [section 6]."""
    return C * (mpf(M_g) + context.log(1 / mpf(delta))) / mpf(epsilon) ** 2


def _target(
    root: Number,
    formula: str,
    filled: str,
    wanted: tuple[float, float, float],
    *,
    holds: bool = True,
    demands: tuple[Demand, ...] = (),
    notes: tuple[str, ...] = (),
) -> Found:
    """M_g, the square of `root`, with the samples for a loss ε with probability 1 − δ."""
    epsilon, delta, C = wanted
    M_g = root**2
    learned = holds and all_met(demands)
    samples = context.ceil(num_samples(M_g, epsilon, delta, C)) if learned else mpf("inf")
    return Found(
        M_g,
        formula=f"{formula},  n = C (M_g + log(1/δ))/ε²",
        filled=f"M_g = ({filled})²,  n = {C:g} · (M_g + log(1/{delta:g})) / {epsilon:g}²",
        terms={"√M_g": root, "samples": samples},
        demands=demands,
        notes=notes,
        holds=holds,
    )


QUANTITIES = entries(theorem_6_1, corollary_6_2, example_6_1, example_6_2, example_6_3, example_6_4)
