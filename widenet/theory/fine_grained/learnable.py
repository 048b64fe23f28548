"""Functions that a wide two-layer network provably learns [fine-grained, section 6].

For y = g(x) on the unit sphere, yᵀH∞⁻¹y ≤ M_g whatever the rows are, and O((M_g + log(1/δ))/ε²) samples bring
the population loss to ε. M_g is the square of the bound (13) on √(yᵀH∞⁻¹y); Examples 6.2 to 6.4 print it
without the square.
"""

from collections.abc import Sequence

from widenet.base.errors import InputError
from widenet.theory.demand import Demand, all_met, in_words, mpf_text
from widenet.theory.entry import Argument, Entry
from widenet.theory.fine_grained.descent import PAPER
from widenet.theory.quantity import Citation, Constant, Quantity
from widenet.theory.smooth.complexity import as_float, log10
from widenet.theory.smooth.series import Number, context, mpf

EPSILON, FAILURE = 0.1, 0.01  # population loss and failure probability where none are given


def theorem_6_1(p: int, alpha: float, beta: float) -> Quantity:
    """Bound on √(yᵀH∞⁻¹y) for y = α(βᵀx)^p, p = 1 or even, β by its norm."""
    bound = monomial_bound(p, alpha, beta)
    sharper = (2 if p == 1 else context.sqrt(2 * context.pi) * (p - 1)) * abs(alpha) * mpf(beta) ** p
    return Quantity(
        name="fine-grained-theorem-6.1",
        value=as_float(bound),
        log10=log10(bound),
        formula="√(yᵀH∞⁻¹y) ≤ 3p|α| ‖β‖^p",
        filled=f"3 · {p} · {mpf_text(abs(alpha))} · {mpf_text(beta)}^{p}",
        terms={"M_g": as_float(bound**2), "with the constant of the proof": as_float(sharper)},
        applies=learnable_power(p),
        why=(_power_words((p,)),),
        source=Citation(PAPER, "Theorem 6.1"),
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


def corollary_6_2(
    powers: Sequence[float],
    alphas: Sequence[float],
    betas: Sequence[float],
    epsilon: float = EPSILON,
    delta: float = FAILURE,
    C: float = 1.0,
) -> Quantity:
    """M_g for g(x) = Σ_j α_j (β_jᵀx)^{p_j}, each β_j by its norm, and the samples it implies."""
    if not len(powers) == len(alphas) == len(betas) or any(p != int(p) for p in powers):
        raise InputError(
            "A target has a whole power, a weight and a norm for each term, but these are "
            f"{len(powers)} powers, {len(alphas)} weights and {len(betas)} norms."
        )
    whole = tuple(int(p) for p in powers)
    parts = [monomial_bound(p, a, b) for p, a, b in zip(whole, alphas, betas, strict=True)]
    return _target(
        "corollary-6.2",
        "Corollary 6.2",
        sum(parts, mpf(0)),
        "√M_g = 3 Σ_j p_j |α_j| ‖β_j‖^{p_j}",
        " + ".join(mpf_text(part) for part in parts),
        (epsilon, delta, C),
        all(learnable_power(p) for p in whole),
        (_power_words(whole),),
    )


def example_6_1(beta: float, epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0) -> Quantity:
    """M_g of a linear function g(x) = βᵀx."""
    return _target(
        "example-6.1",
        "Example 6.1",
        3 * mpf(beta),
        "√M_g = 3‖β‖",
        f"3 · {mpf_text(beta)}",
        (epsilon, delta, C),
    )


def example_6_2(
    eigenvalues: Sequence[float], epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0
) -> Quantity:
    """M_g of a quadratic form g(x) = xᵀAx, A by its eigenvalues: 36 times its squared trace norm."""
    trace_norm = sum((abs(mpf(value)) for value in eigenvalues), mpf(0))
    return _target(
        "example-6.2",
        "Example 6.2",
        6 * trace_norm,
        "√M_g = 6 ‖A‖_*",
        f"6 · {mpf_text(trace_norm)}",
        (epsilon, delta, C),
    )


def example_6_3(beta: float, epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0) -> Quantity:
    """M_g of g(x) = cos(βᵀx) − 1; Σ_j 2j ‖β‖^{2j}/(2j)! = ‖β‖ sinh ‖β‖."""
    b = mpf(beta)
    return _target(
        "example-6.3",
        "Example 6.3",
        3 * b * context.sinh(b),
        "√M_g = 3 Σ_j 2j ‖β‖^{2j}/(2j)! = 3 ‖β‖ sinh ‖β‖",
        f"3 · {mpf_text(b)} · sinh {mpf_text(b)}",
        (epsilon, delta, C),
    )


def example_6_4(beta: float, epsilon: float = EPSILON, delta: float = FAILURE, C: float = 1.0) -> Quantity:
    """M_g of g(x) = βᵀx · arctan(βᵀx/2), which `beyond-two-layers` has no bound for.

    With b = ‖β‖/2, Σ_j 2j/(2j − 1) 2 b^{2j} = 2(b²/(1 − b²) + b artanh b).
    """
    demands = (Demand("‖β‖", beta, "≤", 1.0),)
    b = mpf(beta) / 2
    root = 6 * (b**2 / (1 - b**2) + b * context.atanh(b)) if b < 1 else mpf("inf")
    return _target(
        "example-6.4",
        "Example 6.4",
        root,
        "√M_g = 3 Σ_j 2j · 2^{1−2j}/(2j−1) ‖β‖^{2j} = 6(b²/(1−b²) + b artanh b),  b = ‖β‖/2",
        f"6 · ({mpf_text(b)}² / (1 − {mpf_text(b)}²) + {mpf_text(b)} · artanh {mpf_text(b)})",
        (epsilon, delta, C),
        all_met(demands),
        in_words(demands),
    )


def num_samples(M_g: Number | float, epsilon: float, delta: float, C: float = 1.0) -> Number:
    """C(M_g + log(1/δ))/ε² [section 6]."""
    return C * (mpf(M_g) + context.log(1 / mpf(delta))) / mpf(epsilon) ** 2


def _target(
    name: str,
    place: str,
    root: Number,
    formula: str,
    filled: str,
    wanted: tuple[float, float, float],
    applies: bool = True,
    why: tuple[str, ...] = (),
) -> Quantity:
    """M_g, the square of `root`, with the samples for a loss ε with probability 1 − δ."""
    epsilon, delta, C = wanted
    M_g = root**2
    samples = context.ceil(num_samples(M_g, epsilon, delta, C)) if applies else mpf("inf")
    return Quantity(
        name=f"fine-grained-{name}",
        value=as_float(M_g),
        log10=log10(M_g),
        formula=f"{formula},  n = C (M_g + log(1/δ))/ε²",
        filled=f"M_g = ({filled})²,  n = {C:g} · (M_g + log(1/{delta:g})) / {epsilon:g}²",
        terms={"√M_g": as_float(root), "samples": as_float(samples)},
        applies=applies,
        why=why,
        constants={"C": Constant(C, True, "in the number of samples, O(…)")},
        source=Citation(PAPER, place),
    )


_WANTED = {
    "epsilon": Argument("population loss wanted", float, 0.0, default=EPSILON, strict=True),
    "delta": Argument("failure probability", float, 0.0, 1.0, FAILURE, strict=True),
    "C": Argument(
        "constant that the paper hides, in the number of samples", float, 0.0, default=1.0, strict=True
    ),
}
_BETA = Argument("norm of β", float, 0.0)

QUANTITIES = (
    Entry(
        "fine-grained-theorem-6.1",
        theorem_6_1,
        {"p": Argument("power", int, 1), "alpha": Argument("weight α"), "beta": _BETA},
        "Bound on √(yᵀH⁻¹y) for α(βᵀx)^p",
    ),
    Entry(
        "fine-grained-corollary-6.2",
        corollary_6_2,
        {
            "powers": Argument("powers p_j", tuple, 1.0),
            "alphas": Argument("weights α_j", tuple),
            "betas": Argument("norms of the β_j", tuple, 0.0),
            **_WANTED,
        },
        "M_g and samples of a sum of powers",
    ),
    Entry("fine-grained-example-6.1", example_6_1, {"beta": _BETA, **_WANTED}, "M_g and samples of βᵀx"),
    Entry(
        "fine-grained-example-6.2",
        example_6_2,
        {"eigenvalues": Argument("eigenvalues of A", tuple), **_WANTED},
        "M_g and samples of xᵀAx",
    ),
    Entry(
        "fine-grained-example-6.3", example_6_3, {"beta": _BETA, **_WANTED}, "M_g and samples of cos(βᵀx) − 1"
    ),
    Entry(
        "fine-grained-example-6.4",
        example_6_4,
        {"beta": _BETA, **_WANTED},
        "M_g and samples of βᵀx · arctan(βᵀx/2)",
    ),
)
