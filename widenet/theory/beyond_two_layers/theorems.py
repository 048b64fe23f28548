"""Theorems of `beyond-two-layers`: what SGD learns with two and with three layers.

Two formulas are incomplete in the paper's plain text and are completed from what is left of them: the range
ε < 1/(p·k·C_s) of Theorem 1, and ε = ε0/(k·p1·p2²·C_s(Φ, p2·C_s(φ,1))·C_s(φ,1)²) of Theorems 2 and 3.
"""

from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.demand import Demand
from widenet.theory.numbers import INFINITY, Number, context, four_digits, log10, mpf
from widenet.theory.smooth.complexity import (
    C_STAR,
    TWO_LAYER_POWER,
    complexity_sum,
    epsilon_weights,
    sample_weights,
    star_constant,
)
from widenet.theory.stated import Found, entries

LARGEST_RISK = 0.01  # ε0 of Theorems 2 and 3


@dataclass(frozen=True)
class ThreeLayerComplexities:
    """What Theorems 2 and 3 are stated in, for targets (4.1) with outer function Φ and inner functions φ."""

    epsilon: Number  # ε0/(k·p1·p2²·C_s(Φ, p2·C_s(φ,1))·C_s(φ,1)²)
    inner: Number  # C_ε(φ, 1)
    outer: Number  # C_ε(Φ, √p2·C_ε(φ,1))
    C_0: Number  # outer · inner · p1·√p2·k


@BEYOND_TWO_LAYERS.states(
    "Theorem 1",
    "Samples, steps and rate with which SGD on two layers reaches OPT + ε",
    c_T="in T",
    c_eta="in η = c_η/(ε·k·m)",
    c_a="in ε_a = c_a·ε, the standard deviation of the output weights",
)
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
) -> Found:
    """Steps of SGD, one example each, after which two layers have average risk OPT + ε on a target (3.1)."""
    C_s = complexity_sum(phi, sample_weights(mpf(1), TWO_LAYER_POWER, mpf(c_star)), degree).value
    T = c_T * C_s**2 * mpf(k) ** 3 * mpf(p) ** 2 / mpf(epsilon) ** 2
    largest = 1 / (p * k * C_s) if C_s else INFINITY
    demands = (Demand("ε", epsilon, "<", largest, "1/(p·k·C_s)"),)
    finite = C_s < INFINITY
    return Found(
        T,
        "T = c_T·C_s(φ,1)²·k³·p²/ε²",
        f"T = {c_T:g}·{four_digits(C_s)}²·{k}³·{p}²/{epsilon:g}² = {four_digits(T)}",
        {
            "C_s": C_s,
            "samples": T,
            "eta": c_eta / (mpf(epsilon) * k * mpf(m)),
            "epsilon_a": c_a * epsilon,
            "largest epsilon": largest,
        },
        demands,
        (
            *(() if finite else ("C_s(φ,1) diverges, so the theorem is vacuous for φ.",)),
            "The width must be at least a polynomial in C_ε(φ,1) and 1/ε that the paper does not write down; "
            "beyond-lemma-b.4 has what its proof requires.",
        ),
        holds=finite,
        constants={"C*": star_constant(c_star)},
    )


@BEYOND_TWO_LAYERS.states(
    "Theorem 2", "Samples from which three layers learn, whatever their width (Algorithm 2)", c_N="in N"
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
) -> Found:
    """Samples from which three layers reach (1+γ)·OPT + ε0 on a target (4.1), by Algorithm 2."""
    found = three_layer_complexities(phi, Phi, k, p1, p2, epsilon0, c_star=c_star, degree=degree)
    N = c_N * (k * found.C_0 / mpf(epsilon0)) ** 2
    return _three_layers(
        "N = c_N·(C_ε(Φ, √p2·C_ε(φ,1))·C_ε(φ,1)·√p2·p1·k²/ε0)²",
        f"N = {c_N:g}·({four_digits(found.outer)}·{four_digits(found.inner)}·√{p2}·{p1}·{k}²/{epsilon0:g})² "
        f"= {four_digits(N)}",
        N,
        found,
        c_star,
        (_risk_demand(epsilon0),),
    )


@BEYOND_TWO_LAYERS.states(
    "Theorem 3",
    "Samples from which three layers of width m learn (Algorithm 3)",
    c_N="in N",
    poly="power q of the polynomial M, of which the paper gives only the arguments",
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
) -> Found:
    """Samples from which three layers of width m reach (1+γ)·OPT + ε0 on a target (4.1), by Algorithm 3."""
    found = three_layer_complexities(phi, Phi, k, p1, p2, epsilon0, c_star=c_star, degree=degree)
    M = (found.outer / found.epsilon) ** mpf(poly)
    N = c_N * M * mpf(m) ** mpf("1.5")
    return _three_layers(
        "N = c_N·M·m^1.5, M = (C_ε(Φ, √p2·C_ε(φ,1))/ε)^q",
        f"N = {c_N:g}·({four_digits(found.outer)}/{four_digits(found.epsilon)})^{poly:g}·{m:g}^1.5 = "
        f"{four_digits(N)}",
        N,
        found,
        c_star,
        (_risk_demand(epsilon0), Demand("m", m, "≥", M, "M")),
    )


def _risk_demand(epsilon0: float) -> Demand:
    return Demand("ε0", epsilon0, "≤", LARGEST_RISK, "1/100")


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
    formula: str,
    filled: str,
    N: Number,
    found: ThreeLayerComplexities,
    c_star: float,
    demands: tuple[Demand, ...],
) -> Found:
    return Found(
        N,
        formula,
        filled,
        {
            "log10 C_epsilon(phi)": log10(found.inner),
            "log10 C_epsilon(Phi)": log10(found.outer),
            "log10 C_0": log10(found.C_0),
            "log10 epsilon": log10(found.epsilon),
        },
        demands,
        (
            "The width must be at least M, a polynomial in C_ε(Φ, √p2·C_ε(φ,1)) and 1/ε that the paper does "
            "not write down; rate and number of steps are 1/poly(m) and poly(m).",
            "By Remark 4.2 the same holds of targets with φ(⟨w1, x⟩)⟨w3, x⟩ in place of φ(⟨w1, x⟩), where w1 "
            "and w3 are orthogonal.",
        ),
        constants={"C*": star_constant(c_star)},
    )


def _require_finite(value: Number, what: str) -> None:
    if value == INFINITY:
        raise InputError(
            f"{what} diverges, so the theorem is vacuous for this function; give a degree to use a "
            "Taylor polynomial of φ in its place, or a smaller c_star."
        )


QUANTITIES = entries(theorem_1, theorem_2, theorem_3)
