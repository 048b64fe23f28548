"""Lemmas of `fine-grained` on how far weights and Gram matrices move from where they start.

Setting and notation are those of `descent`.
"""

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.fine_grained.descent import (
    convergence_demands,
    initial_residual,
    start_demand,
    step_demand,
)
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import Number, context, mpf
from widenet.theory.stated import Found, entries


def movement_width(n: int, floor: float, kappa: float, delta: float) -> Number:
    """n⁸/(λ₀⁶κ²δ⁴), at which the largest of the errors (35), (36), (38) of Lemma 5.3 is 1.

    The lemma and Theorem 5.1 only say κ⁻² poly(n, 1/λ₀, 1/δ). For λ₀ ≤ ½, as tr H∞ = n/2 has it, this is
    above every other width that their proofs use.
    """
    return mpf(n) ** 8 / (mpf(floor) ** 6 * mpf(kappa) ** 2 * mpf(delta) ** 4)


@FINE_GRAINED.states("Lemma C.1", "How far one neuron moves")
def lemma_c_1(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    residual: float,
    C_m: float = 1.0,
    C_eta: float = 1.0,
) -> Found:
    """How far any one neuron moves, at most: 4√n ‖y − u(0)‖/(√m λ₀)."""
    demands = convergence_demands(n, floor, m, eta, kappa, delta, C_m, C_eta)
    radius = 4 * context.sqrt(n) * residual / (context.sqrt(m) * floor)
    return Found(
        radius,
        formula="‖w_r(k) − w_r(0)‖ ≤ 4√n ‖y − u(0)‖ / (√m λ₀)",
        filled=f"4 · √{n} · {mpf_text(residual)} / (√{mpf_text(m)} · {mpf_text(floor)})",
        terms={"‖y − u(0)‖": residual},
        demands=demands,
    )


def neuron_radius(n: int, floor: float, m: float, kappa: float, delta: float) -> Number:
    """R of Lemma 5.3, O(n/(√m λ₀ √δ)): Lemma C.1 at the initial residual, 4n√(1 + κ²/2)/(√m λ₀ √δ)."""
    return 4 * context.sqrt(n) * initial_residual(n, kappa, delta) / (context.sqrt(m) * mpf(floor))


@FINE_GRAINED.states("Lemma C.2", "How far the Gram matrix moves in training")
def lemma_c_2(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    C_m: float = 1.0,
    C_eta: float = 1.0,
) -> Found:
    """How far the Gram matrix moves, at most, ‖H(k) − H(0)‖_F, and Z with it, with probability 1 − 4δ."""
    demands = (
        *convergence_demands(n, floor, m, eta, kappa, delta, C_m, C_eta),
        Demand("failure probability 4δ", 4 * delta, "<", 1.0),
    )
    R = neuron_radius(n, floor, m, kappa, delta)
    flips = 2 * R / (context.sqrt(2 * context.pi) * kappa)  # chance that a sign is within reach of R
    drift = n**2 * (2 * flips / delta + mpf(2) / m)
    return Found(
        drift,
        formula="‖H(k) − H(0)‖_F ≤ 4n²R/(√(2π) κδ) + 2n²/m,  R = 4n√(1 + κ²/2)/(√m λ₀ √δ)",
        filled=f"4 · {n}² · {mpf_text(R)} / (√(2π) · {mpf_text(kappa)} · {mpf_text(delta)}) + "
        f"2 · {n}² / {mpf_text(m)}",
        terms={
            "R": R,
            "‖Z(k) − Z(0)‖_F at most": context.sqrt(n * (flips / delta + mpf(1) / m)),
            "share of signs within reach at most": flips,
        },
        demands=demands,
        notes=(
            "It holds with probability 1 − 4δ; its O is written out as in the proof.",
            "So is 2n²/m, which is 0 on the event of Lemma C.1: the bound is true, and slightly large.",
        ),
    )


@FINE_GRAINED.states("Lemma C.3", "How far the Gram matrix is from its limit at the start")
def lemma_c_3(n: int, m: float, delta: float) -> Found:
    """How far the Gram matrix is from its limit at the start, at most, ‖H(0) − H∞‖_F."""
    bound = n * context.sqrt(context.log(2 * mpf(n) ** 2 / delta) / (2 * mpf(m)))
    return Found(
        bound,
        formula="‖H(0) − H∞‖_F ≤ n √(log(2n²/δ) / (2m))",
        filled=f"{n} · √(log(2 · {n}² / {mpf_text(delta)}) / (2 · {mpf_text(m)}))",
        terms={"each entry at most": bound / n},
        notes=("It holds for any width, with the constant of its proof; the statement prints log(2/δ).",),
    )


def movement_errors(
    n: int, floor: float, m: float, kappa: float, delta: float, C: float = 1.0
) -> dict[str, Number]:
    """What Lemma 5.3 adds to √(yᵀH∞⁻¹y), read off (36), (35), (38): one error falls with κ, three with m."""
    root, lam, kappa, delta = context.sqrt(m), mpf(floor), mpf(kappa), mpf(delta)
    return {
        "nκ/(λ₀δ)": C * n * kappa / (lam * delta),
        "n⁴/(√m λ₀³κδ²)": C * mpf(n) ** 4 / (root * lam**3 * kappa * delta**2),
        "n^{3/2}/√(√m λ₀³κδ^{3/2})": C * mpf(n) ** 1.5 / context.sqrt(root * lam**3 * kappa * delta**1.5),
        "√(n²√log(n/δ)/(√m λ₀²))": C * n * context.sqrt(context.sqrt(context.log(n / delta)) / root) / lam,
    }


@FINE_GRAINED.states("Lemma 5.3", "How far the weights move, one neuron and all together")
def lemma_5_3(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    quadratic: float,
    C: float = 1.0,
    C_m: float = 1.0,
    C_eta: float = 1.0,
) -> Found:
    """How far all weights move together, at most: √(yᵀH∞⁻¹y) and errors that a large width makes small."""
    demands = (
        start_demand(kappa),
        Demand("width m", m, "≥", C_m * movement_width(n, floor, kappa, delta), "C_m·n⁸/(λ₀⁶κ²δ⁴)"),
        step_demand(n, floor, eta, C_eta),
    )
    terms = {"√(yᵀH⁻¹y)": context.sqrt(quadratic), **movement_errors(n, floor, m, kappa, delta, C)}
    bound = sum(terms.values())
    return Found(
        bound,
        formula="‖W(k) − W(0)‖_F ≤ √(yᵀH∞⁻¹y) + O(nκ/(λ₀δ)) + poly(n, 1/λ₀, 1/δ)/(m^{1/4}κ^{1/2})",
        filled=" + ".join(mpf_text(term) for term in terms.values()),
        terms={**terms, "‖w_r(k) − w_r(0)‖ at most": neuron_radius(n, floor, m, kappa, delta)},
        demands=demands,
        notes=("The paper writes poly(n, 1/λ₀, 1/δ); its terms are read off (35), (36) and (38).",),
    )


QUANTITIES = entries(lemma_5_3, lemma_c_1, lemma_c_2, lemma_c_3)
