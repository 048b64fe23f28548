"""Theorems of `beyond-two-layers`: what SGD learns with two and with three layers.

Factors that the paper hides in O, Ω, Θ and poly are arguments of their own, 1 by default, and shown as such.
Two formulas are incomplete in the paper's plain text and are completed from what is left of them: the range
ε < 1/(p·k·C_s) of Theorem 1, and ε = ε0/(k·p1·p2²·C_s(Φ, p2·C_s(φ,1))·C_s(φ,1)²) of Theorems 2 and 3.
"""

from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.theory.demand import Demand, all_met, in_words
from widenet.theory.entry import Argument, Entry, hidden_argument
from widenet.theory.quantity import Citation, Constant, Quantity, hidden_constant
from widenet.theory.smooth.complexity import (
    C_STAR,
    TWO_LAYER_POWER,
    as_float,
    complexity_sum,
    epsilon_weights,
    four_digits,
    log10,
    sample_weights,
    star_constant,
)
from widenet.theory.smooth.series import Number, context, mpf
from widenet.theory.smooth.taylor import INFINITY

PAPER = "beyond-two-layers"


@dataclass(frozen=True)
class ThreeLayerComplexities:
    """What Theorems 2 and 3 are stated in, for targets (4.1) with outer function Φ and inner functions φ.

    Attributes:
        epsilon: ε0/(k·p1·p2²·C_s(Φ, p2·C_s(φ,1))·C_s(φ,1)²).
        inner: C_ε(φ, 1).
        outer: C_ε(Φ, √p2·C_ε(φ,1)).
        C_0: outer · inner · p1·√p2·k.
    """

    epsilon: Number
    inner: Number
    outer: Number
    C_0: Number


def theorem_1(
    phi: str,
    k: int,
    p: int,
    epsilon: float,
    m: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c_T: float = 1.0,
    c_eta: float = 1.0,
    c_a: float = 1.0,
) -> Quantity:
    """Steps of SGD, one example each, after which two layers have average risk OPT + ε on a target (3.1)."""
    C_s = complexity_sum(phi, sample_weights(mpf(1), TWO_LAYER_POWER, mpf(c_star)), degree).value
    T = c_T * C_s**2 * mpf(k) ** 3 * mpf(p) ** 2 / mpf(epsilon) ** 2
    largest = 1 / (p * k * C_s) if C_s else INFINITY
    demands = (Demand("ε", epsilon, "<", largest, "1/(p·k·C_s)"),)
    finite = C_s < INFINITY
    return Quantity(
        "beyond-theorem-1",
        as_float(T),
        "T = c_T·C_s(φ,1)²·k³·p²/ε²",
        f"T = {c_T:g}·{four_digits(C_s)}²·{k}³·{p}²/{epsilon:g}² = {four_digits(T)}",
        {
            "C_s": as_float(C_s),
            "samples": as_float(T),
            "eta": as_float(c_eta / (mpf(epsilon) * k * mpf(m))),
            "epsilon_a": c_a * epsilon,
            "largest epsilon": as_float(largest),
        },
        all_met(demands) and finite,
        (
            *in_words(demands),
            *(() if finite else ("C_s(φ,1) diverges, so the theorem is vacuous for φ.",)),
            "The width must be at least a polynomial in C_ε(φ,1) and 1/ε that the paper does not write down.",
        ),
        Citation(PAPER, "Theorem 1"),
        log10(T),
        {
            "C*": star_constant(c_star),
            "c_T": hidden_constant(c_T, "in T"),
            "c_eta": hidden_constant(c_eta, "in η = c_η/(ε·k·m)"),
            "c_a": hidden_constant(c_a, "in ε_a = c_a·ε, the standard deviation of the output weights"),
        },
    )


def theorem_2(
    phi: str,
    Phi: str,
    k: int,
    p1: int,
    p2: int,
    epsilon0: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c_N: float = 1.0,
) -> Quantity:
    """Samples from which three layers reach (1+γ)·OPT + ε0 on a target (4.1), by Algorithm 2."""
    found = three_layer_complexities(phi, Phi, k, p1, p2, epsilon0, c_star=c_star, degree=degree)
    N = c_N * (k * found.C_0 / mpf(epsilon0)) ** 2
    return _three_layers(
        "beyond-theorem-2",
        "Theorem 2",
        "N = c_N·(C_ε(Φ, √p2·C_ε(φ,1))·C_ε(φ,1)·√p2·p1·k²/ε0)²",
        f"N = {c_N:g}·({four_digits(found.outer)}·{four_digits(found.inner)}·√{p2}·{p1}·{k}²/{epsilon0:g})² "
        f"= {four_digits(N)}",
        N,
        found,
        {"C*": star_constant(c_star), "c_N": hidden_constant(c_N, "in N")},
        (_risk_demand(epsilon0),),
    )


def theorem_3(
    phi: str,
    Phi: str,
    k: int,
    p1: int,
    p2: int,
    epsilon0: float,
    m: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c_N: float = 1.0,
    poly: float = 1.0,
) -> Quantity:
    """Samples from which three layers of width m reach (1+γ)·OPT + ε0 on a target (4.1), by Algorithm 3."""
    found = three_layer_complexities(phi, Phi, k, p1, p2, epsilon0, c_star=c_star, degree=degree)
    M = (found.outer / found.epsilon) ** mpf(poly)
    N = c_N * M * mpf(m) ** mpf("1.5")
    return _three_layers(
        "beyond-theorem-3",
        "Theorem 3",
        "N = c_N·M·m^1.5, M = (C_ε(Φ, √p2·C_ε(φ,1))/ε)^q",
        f"N = {c_N:g}·({four_digits(found.outer)}/{four_digits(found.epsilon)})^{poly:g}·{m:g}^1.5 = "
        f"{four_digits(N)}",
        N,
        found,
        {
            "C*": star_constant(c_star),
            "c_N": hidden_constant(c_N, "in N"),
            "poly": hidden_constant(
                poly, "power q of the polynomial M, of which the paper gives only the arguments"
            ),
        },
        (_risk_demand(epsilon0), Demand("m", m, "≥", M, "M")),
    )


def _risk_demand(epsilon0: float) -> Demand:
    return Demand("ε0", epsilon0, "≤", 0.01, "1/100")


def three_layer_complexities(
    phi: str, Phi: str, k: int, p1: int, p2: int, epsilon0: float, *, c_star: float = C_STAR, degree: int = 0
) -> ThreeLayerComplexities:
    """The complexities that Theorems 2 and 3 are stated in; `degree` truncates φ alone."""
    star = mpf(c_star)
    inner_s = complexity_sum(phi, sample_weights(mpf(1), TWO_LAYER_POWER, star), degree).value
    _require_finite(inner_s, "C_s(φ, 1)")
    outer_s = complexity_sum(Phi, sample_weights(p2 * inner_s, TWO_LAYER_POWER, star)).value
    _require_finite(outer_s, "C_s(Φ, p2·C_s(φ,1))")
    scale = k * p1 * p2**2 * outer_s * inner_s**2
    if epsilon0 <= 0 or mpf(epsilon0) >= scale:
        raise InputError(
            f"epsilon0 must be positive and below k·p1·p2²·C_s(Φ, p2·C_s(φ,1))·C_s(φ,1)² = "
            f"{four_digits(scale)}, not {epsilon0:g}."
        )
    epsilon = mpf(epsilon0) / scale
    inner = complexity_sum(phi, epsilon_weights(mpf(1), epsilon, star), degree).value
    _require_finite(inner, "C_ε(φ, 1)")
    outer = complexity_sum(Phi, epsilon_weights(context.sqrt(p2) * inner, epsilon, star)).value
    _require_finite(outer, "C_ε(Φ, √p2·C_ε(φ,1))")
    return ThreeLayerComplexities(epsilon, inner, outer, outer * inner * p1 * context.sqrt(p2) * k)


def _three_layers(
    name: str,
    place: str,
    formula: str,
    filled: str,
    N: Number,
    found: ThreeLayerComplexities,
    constants: dict[str, Constant],
    demands: tuple[Demand, ...],
) -> Quantity:
    return Quantity(
        name,
        as_float(N),
        formula,
        filled,
        {
            "log10 C_epsilon(phi)": log10(found.inner),
            "log10 C_epsilon(Phi)": log10(found.outer),
            "log10 C_0": log10(found.C_0),
            "log10 epsilon": log10(found.epsilon),
        },
        all_met(demands),
        (
            *in_words(demands),
            "The width must be at least M, a polynomial in C_ε(Φ, √p2·C_ε(φ,1)) and 1/ε that the paper does "
            "not write down; rate and number of steps are 1/poly(m) and poly(m).",
        ),
        Citation(PAPER, place),
        log10(N),
        constants,
    )


def _require_finite(value: Number, what: str) -> None:
    if value == INFINITY:
        raise InputError(
            f"{what} diverges, so the theorem is vacuous for this function; give a degree to take a "
            "Taylor polynomial of φ in its place, or a smaller c_star."
        )


_FUNCTION = Argument("inner function φ: a formula in z as sin(3*z), or coefficients as 0,1,-1/2", str)
_C_STAR = Argument("constant C* of the complexities", float, 0.0, default=C_STAR, strict=True)
_DEGREE = Argument("degree of the Taylor polynomial to take in place of φ, 0 for φ itself", int, 0, 10_000, 0)
_OUTPUTS = Argument("number of outputs", int, 1)
_WIDTH = Argument("number of neurons of a hidden layer", float, 1.0)
_THREE = {
    "phi": _FUNCTION,
    "Phi": Argument("outer function Φ, a formula in z as (z-2)**2", str),
    "k": _OUTPUTS,
    "p1": Argument("number of products in each output of the target", int, 1),
    "p2": Argument("number of inner functions", int, 1),
    "epsilon0": Argument("excess risk ε0", float, 0.0, 0.01),
}
QUANTITIES = (
    Entry(
        "beyond-theorem-1",
        theorem_1,
        {
            "phi": _FUNCTION,
            "k": _OUTPUTS,
            "p": Argument("number of terms of the target", int, 1),
            "epsilon": Argument("excess risk ε", float, 0.0, strict=True),
            "m": _WIDTH,
            "c_star": _C_STAR,
            "degree": _DEGREE,
            **{name: hidden_argument(name) for name in ("c_T", "c_eta", "c_a")},
        },
        "Samples, steps and rate with which SGD on two layers reaches OPT + ε",
    ),
    Entry(
        "beyond-theorem-2",
        theorem_2,
        {**_THREE, "c_star": _C_STAR, "degree": _DEGREE, "c_N": hidden_argument("c_N")},
        "Samples from which three layers learn, whatever their width (Algorithm 2)",
    ),
    Entry(
        "beyond-theorem-3",
        theorem_3,
        {
            **_THREE,
            "m": _WIDTH,
            "c_star": _C_STAR,
            "degree": _DEGREE,
            "c_N": hidden_argument("c_N"),
            "poly": hidden_argument("poly"),
        },
        "Samples from which three layers of width m learn (Algorithm 3)",
    ),
)
