"""Theorems of `fine-grained` on generalisation, as functions of what can be measured on data."""

import math
from dataclasses import dataclass, replace

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.fine_grained.descent import initial_residual, step_demand
from widenet.theory.fine_grained.movement import movement_errors, movement_width, neuron_radius
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import Number, context, mpf
from widenet.theory.stated import Found, entries

# D.3 gives a third of δ to the initialisation, and its log(10/δ) is Lemma 5.4's at δ/5. What is left of that
# third is shared by Theorem 3.1 and Lemma 5.3; the paper does not say how.
SHARE_OF_NETWORKS, SHARE_OF_DESCENT = 5, 15


@dataclass(frozen=True)
class GeneralisationBound:
    """A bound on the population loss, and the terms that it is the sum of."""

    value: float
    terms: dict[str, float]


def generalisation_bound(quadratic: float, trace: float, n: int, *, delta: float) -> GeneralisationBound:
    """Theorem 5.1 with the constants of its proof (D.3), for a network of unbounded width and vanishing κ.

    The trained function lies in a ball of radius B = √(yᵀH⁻¹y), whose Rademacher complexity is at most
    B √(tr H) / n; for H∞ this is B / √(2n), and twice it is the complexity (10). The proof rounds B up to a
    whole number i, pays for the choice of i by a union bound over Theorem B.1, and allows a training loss of
    1/√n. `radius_confidence` has the union bound.

    Args:
        quadratic: yᵀH⁻¹y.
        trace: tr H.
        n: Number of rows.
        delta: Failure probability δ of the statement; a third of it is spent on the sampling of the rows.
    """
    radius = math.sqrt(quadratic)
    per_radius = 2 * math.sqrt(trace) / n
    whole = max(1, math.ceil(radius))
    terms = {
        "complexity": per_radius * radius,
        "whole radius": per_radius * (whole - radius),
        "training loss": 1 / math.sqrt(n),
        "confidence": float(radius_confidence(whole, n, delta)),
    }
    return GeneralisationBound(sum(terms.values()), terms)


def radius_confidence(i: Number | int, n: int, delta: Number | float) -> Number:
    """3√(log(2/δ_i)/(2n)) of Theorem B.1 at δ_i = δ/(3i(i+1)), the share of δ that the ball of radius i has.

    The balls of all radii 1, 2, … hold at once, because Σ 1/(i(i+1)) = 1. Which of them are counted must not
    depend on the sample: D.3's list up to O(√(n/λ₀)) would have to know λ₀ before it.
    """
    return 3 * context.sqrt(context.log(6 * mpf(i) * (i + 1) / mpf(delta)) / (2 * n))


def finite_terms(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    steps: int,
    quadratic: float,
    C: float = 1.0,
) -> dict[str, Number]:
    """Theorem 5.1 along its proof (D.3), before what falls with κ and m is dropped: 2R_S + L_S + confidence.

    The ball has the radius B of Lemma 5.3, rounded up to a whole number; R_S is Lemma 5.4's; L_S follows from
    Theorem 3.1 after so many steps. Each is taken at its share of δ. Arguments are those of `theorem_5_1`.
    """
    delta = mpf(delta)
    share = delta / SHARE_OF_DESCENT
    errors = movement_errors(n, floor, m, kappa, share, C)
    radius = context.sqrt(quadratic) + sum(errors.values())
    reach = neuron_radius(n, floor, m, kappa, share)
    whole = max(mpf(1), context.ceil(radius))
    networks = _rademacher_terms(n, m, kappa, reach, whole, delta / SHARE_OF_NETWORKS)
    start = errors.pop("nκ/(λ₀δ)")
    per_radius = context.sqrt(mpf(2) / n)
    return {
        "complexity": per_radius * context.sqrt(quadratic),
        "κ, Lemma 5.3": per_radius * start,
        "width, Lemma 5.3": per_radius * sum(errors.values()),
        "whole radius": per_radius * (whole - radius),
        "width, Lemma 5.4": 2 * networks["finite width"],
        "signs that flip, Lemma 5.4": 2 * (networks["2R²√m/κ"] + networks["R√(2 log(2/δ))"]),
        "training loss": _training_loss(n, floor, eta, kappa, share, steps),
        "confidence": radius_confidence(whole, n, delta),
    }


def _training_loss(n: int, floor: float, eta: float, kappa: float, delta: float, steps: int) -> Number:
    """√(2Φ(W(k))/n) by Theorem 3.1, or 1, which no loss exceeds."""
    decay = mpf(eta) * floor / 2
    if decay >= 1:
        return mpf(1)
    residual = initial_residual(n, kappa, delta) * (1 - decay) ** (mpf(steps) / 2)
    return min(mpf(1), residual / context.sqrt(n))


def generalisation_demands(
    n: int,
    floor: float,
    m: float | None,
    eta: float | None,
    kappa: float | None,
    steps: int | None,
    delta: float,
    C_m: float = 1.0,
    C_eta: float = 1.0,
    C_kappa: float = 1.0,
    C_k: float = 1.0,
) -> tuple[Demand, ...]:
    """What Theorem 5.1 requires; where κ or η is not given, of the largest that is allowed."""
    largest_kappa = min(mpf(1), C_kappa * mpf(floor) * delta / n)
    width = C_m * movement_width(n, floor, largest_kappa if kappa is None else kappa, delta)
    of_step = step_demand(n, floor, eta, C_eta)
    step = mpf(of_step.need if eta is None else eta)
    return (
        Demand("initialisation κ", kappa, "≤", largest_kappa, "min(1, C_κ·λ₀δ/n)"),
        Demand("width m", m, "≥", width, "C_m·n⁸/(λ₀⁶κ²δ⁴)"),
        of_step,
        Demand(
            "steps k", steps, "≥", C_k * context.log(n / mpf(delta)) / (step * floor), "C_k·log(n/δ)/(ηλ₀)"
        ),
    )


@FINE_GRAINED.states("Theorem 5.1", "Bound on the population loss of a trained wide network")
def theorem_5_1(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    steps: int,
    quadratic: float,
    C: float = 1.0,
    C_m: float = 1.0,
    C_eta: float = 1.0,
    C_kappa: float = 1.0,
    C_k: float = 1.0,
) -> Found:
    """Bound on the population loss of the trained network, for any loss in [0, 1] that is 1-Lipschitz."""
    demands = generalisation_demands(n, floor, m, eta, kappa, steps, delta, C_m, C_eta, C_kappa, C_k)
    terms = finite_terms(n, floor, m, eta, kappa, delta, steps, quadratic, C)
    bound = sum(terms.values())
    limit = generalisation_bound(quadratic, n / 2, n, delta=delta).value
    return Found(
        bound,
        formula="L_D ≤ 2R_S + L_S + 3√(log(6i(i+1)/δ)/(2n)) with i = ⌈B⌉, which is √(2yᵀH∞⁻¹y/n) + "
        "O(√(log(n/(λ₀δ))/n)) for small κ and large m",
        filled=" + ".join(mpf_text(term) for term in terms.values()),
        terms={**terms, "in the limit m → ∞, κ → 0": limit},
        demands=demands,
        notes=(
            f"The plain bound {mpf_text(limit)}, √(2yᵀH∞⁻¹y/n) and what its O hides, is for unbounded width "
            f"and vanishing κ; at this width and κ the proof (D.3) gives {mpf_text(bound)}.",
            "The required width is where the errors of Lemma 5.3 at δ fall below 1; the paper writes "
            "κ⁻² poly(n, 1/λ₀, 1/δ).",
            "At finite width λ₀ sets R, so it must be known before the sample; the plain bound needs no λ₀.",
        ),
    )


@FINE_GRAINED.states("Corollary 5.2", "Bound on the share of new samples that it misclassifies")
def corollary_5_2(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    steps: int,
    quadratic: float,
    C: float = 1.0,
    C_m: float = 1.0,
    C_eta: float = 1.0,
    C_kappa: float = 1.0,
    C_k: float = 1.0,
) -> Found:
    """Bound on the share of new samples that are misclassified: Theorem 5.1 at the ramp loss, labels ±1."""
    constants = (C, C_m, C_eta, C_kappa, C_k)
    bound = theorem_5_1.function(n, floor, m, eta, kappa, delta, steps, quadratic, *constants)
    return replace(
        bound,
        formula=bound.formula.replace("L_D", "Pr[sign f(x) ≠ y]"),
        notes=(*bound.notes, "The labels must be ±1."),
    )


@FINE_GRAINED.states("(10)", "Complexity (10) of labels on data", "fine-grained-complexity")
def complexity_measure(n: int, quadratic: float) -> Found:
    """The complexity (10) of labels on data, √(2yᵀH∞⁻¹y/n)."""
    return Found(
        math.sqrt(2 * quadratic / n),
        formula="√(2yᵀH∞⁻¹y/n)",
        filled=f"√(2 · {mpf_text(quadratic)} / {n})",
        terms={"√(yᵀH⁻¹y)": math.sqrt(quadratic)},
        notes=(
            "It is the first term of Theorem 5.1's bound, for unbounded width and vanishing κ.",
            "At 1 or more that bound is vacuous; `widenet audit` measures it.",
        ),
    )


@FINE_GRAINED.states("Lemma 5.4", "Rademacher complexity of networks near their initialisation")
def lemma_5_4(n: int, m: float, kappa: float, R: float, B: float, delta: float) -> Found:
    """Rademacher complexity of the networks within R of W(0) in each neuron and within B in all, at most."""
    terms = _rademacher_terms(n, m, kappa, R, B, delta)
    bound = sum(terms.values())
    return Found(
        bound,
        formula="R_S ≤ B/√(2n) (1 + (2 log(2/δ)/m)^{1/4}) + 2R²√m/κ + R√(2 log(2/δ))",
        filled=" + ".join(mpf_text(term) for term in terms.values()),
        terms=terms,
        notes=("It holds for every B at once, over W(0) and a, and for any R > 0 that was fixed before.",),
    )


def _rademacher_terms(
    n: int, m: float, kappa: float, R: Number | float, B: Number | float, delta: float
) -> dict[str, Number]:
    log, width = context.log(2 / mpf(delta)), mpf(m)
    return {
        "B/√(2n)": B / context.sqrt(2 * n),
        "finite width": B / context.sqrt(2 * n) * (2 * log / width) ** 0.25,
        "2R²√m/κ": 2 * mpf(R) ** 2 * context.sqrt(width) / kappa,
        "R√(2 log(2/δ))": R * context.sqrt(2 * log),
    }


@FINE_GRAINED.states("Theorem B.1", "Generalisation gap by Rademacher complexity")
def theorem_b_1(n: int, rademacher: float, delta: float, c: float = 1.0, rho: float = 1.0) -> Found:
    """Gap between population and training loss over a class of functions, at most."""
    confidence = 3 * c * math.sqrt(math.log(2 / delta) / (2 * n))
    return Found(
        2 * rho * rademacher + confidence,
        formula="sup {L_D(f) − L_S(f)} ≤ 2ρ R_S + 3c √(log(2/δ)/(2n))",
        filled=f"2 · {rho:g} · {mpf_text(rademacher)} + 3 · {c:g} · √(log(2/{delta:g}) / (2 · {n}))",
        terms={"complexity": 2 * rho * rademacher, "confidence": confidence},
        notes=("It holds for losses in [0, c] that are ρ-Lipschitz in the output.",),
    )


QUANTITIES = entries(theorem_5_1, corollary_5_2, complexity_measure, lemma_5_4, theorem_b_1)
