"""Theorems of `fine-grained` on the descent itself: how fast it converges.

The network is f = m^{−1/2} Σ a_r σ(w_rᵀx), w_r ~ N(0, κ²I), a_r = ±1, with ‖x_i‖ = 1 and |y_i| ≤ 1; λ₀
(here `floor`) is a lower bound on λ_min(H∞). Where a proof gives a constant that the paper hides, it is the
proof's: each u_i(0) has mean square κ²/2, so that by Markov's inequality ‖y − u(0)‖² ≤ n(1 + κ²/2)/δ, for
which the paper writes O(n/δ).
"""

from collections.abc import Sequence

from widenet.base.errors import InputError
from widenet.theory.demand import Demand, mpf_text
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import Number, as_float, context, mpf
from widenet.theory.stated import Found, entries


def initial_residual(n: int, kappa: float, delta: float) -> Number:
    """√(n(1 + κ²/2)/δ), which ‖y − u(0)‖ exceeds with probability at most δ."""
    return context.sqrt(n * (1 + mpf(kappa) ** 2 / 2) / delta)


def convergence_width(n: int, floor: float, kappa: float, delta: float) -> Number:
    """n⁶/(λ₀⁴κ²δ³), the width of Theorem 3.1."""
    return mpf(n) ** 6 / (mpf(floor) ** 4 * mpf(kappa) ** 2 * mpf(delta) ** 3)


def tracking_width(n: int, floor: float, kappa: float, delta: float, epsilon: float) -> Number:
    """n⁷/(λ₀⁴κ²δ⁴ε²), the width of Theorem 4.1."""
    return mpf(n) ** 7 / (mpf(floor) ** 4 * mpf(kappa) ** 2 * mpf(delta) ** 4 * mpf(epsilon) ** 2)


def step_demand(n: int, floor: float, eta: float | None, C_eta: float = 1.0) -> Demand:
    """Theorem 3.1's limit on the step."""
    return Demand("step η", eta, "≤", C_eta * mpf(floor) / n**2, "C_η·λ₀/n²")


def start_demand(kappa: float | None) -> Demand:
    """The initialisation (1), which everything in the paper starts from, has κ ≤ 1."""
    return Demand("initialisation κ", kappa, "≤", 1.0)


def convergence_demands(
    n: int,
    floor: float,
    m: float | None,
    eta: float | None,
    kappa: float | None,
    delta: float,
    C_m: float = 1.0,
    C_eta: float = 1.0,
) -> tuple[Demand, ...]:
    """What Theorem 3.1 requires; where κ is not given, of the largest that is allowed."""
    width = C_m * convergence_width(n, floor, 1.0 if kappa is None else kappa, delta)
    return (
        start_demand(kappa),
        Demand("width m", m, "≥", width, "C_m·n⁶/(λ₀⁴κ²δ³)"),
        step_demand(n, floor, eta, C_eta),
    )


@FINE_GRAINED.states("Theorem 3.1", "Rate at which gradient descent on a wide two-layer network converges")
def theorem_3_1(
    n: int,
    floor: float,
    m: float,
    eta: float,
    kappa: float,
    delta: float,
    steps: int = 0,
    C_m: float = 1.0,
    C_eta: float = 1.0,
) -> Found:
    """Factor by which the loss Φ = ½‖y − u‖² falls in every step, at least: 1 − ηλ₀/2."""
    demands = convergence_demands(n, floor, m, eta, kappa, delta, C_m, C_eta)
    decay = mpf(eta) * floor / 2
    start = initial_residual(n, kappa, delta) ** 2 / 2
    return Found(
        as_float(1 - decay),
        formula="Φ(W(k+1)) ≤ (1 − ηλ₀/2) Φ(W(k)),  Φ(W(0)) ≤ n(1 + κ²/2)/(2δ)",
        filled=f"1 − {mpf_text(eta)} · {mpf_text(floor)} / 2",
        terms={
            "ηλ₀/2": decay,
            "Φ(W(0)) at most": start,
            f"Φ(W({steps})) at most": start * (1 - decay) ** steps,
            "steps to halve Φ": -context.log(2) / context.log1p(-decay) if decay < 1 else 1.0,
        },
        demands=demands,
    )


def tracking_demands(
    n: int,
    floor: float,
    m: float | None,
    eta: float | None,
    kappa: float | None,
    epsilon: float,
    delta: float,
    C_m: float = 1.0,
    C_eta: float = 1.0,
    C_kappa: float = 1.0,
) -> tuple[Demand, ...]:
    """What Theorem 4.1 requires; the width is that of the κ there is, or else of the largest allowed."""
    largest = min(mpf(1), C_kappa * mpf(epsilon) * delta / context.sqrt(n))
    width = C_m * tracking_width(n, floor, largest if kappa is None else kappa, delta, epsilon)
    return (
        Demand("initialisation κ", kappa, "≤", largest, "min(1, C_κ·εδ/√n)"),
        Demand("width m", m, "≥", width, "C_m·n⁷/(λ₀⁴κ²δ⁴ε²)"),
        step_demand(n, floor, eta, C_eta),
    )


@FINE_GRAINED.states("Theorem 4.1", "Residual of gradient descent after a number of steps")
def theorem_4_1(
    eigenvalues: Sequence[float],
    projections: Sequence[float],
    m: float,
    eta: float,
    kappa: float,
    epsilon: float,
    delta: float,
    steps: int,
    C_m: float = 1.0,
    C_eta: float = 1.0,
    C_kappa: float = 1.0,
) -> Found:
    """Residual ‖y − u(k)‖ after k steps, to ±ε, from the eigenvalues of H∞ and the labels' projections.

    All n eigenvalues λ_i are needed, and v_iᵀy in the same order.
    """
    if len(eigenvalues) != len(projections):
        raise InputError(
            f"Theorem 4.1 needs a projection for every eigenvalue, but there are {len(eigenvalues)} and "
            f"{len(projections)}."
        )
    n, floor = len(eigenvalues), min(eigenvalues)
    demands = tracking_demands(n, floor, m, eta, kappa, epsilon, delta, C_m, C_eta, C_kappa)
    pairs = zip(eigenvalues, projections, strict=True)
    residual = context.sqrt(sum((1 - mpf(eta) * x) ** (2 * steps) * mpf(v) ** 2 for x, v in pairs))
    drift = mpf(n) ** 3.5 / (context.sqrt(m) * mpf(floor) ** 2 * kappa * mpf(delta) ** 2)
    return Found(
        as_float(residual),
        formula="‖y − u(k)‖ = √Σ_i (1 − ηλ_i)^{2k} (v_iᵀy)² ± ε",
        filled=f"{mpf_text(residual)} ± {mpf_text(epsilon)} at k = {steps}",
        terms={
            "ε": epsilon,
            "√n κ/δ of the proof": context.sqrt(n) * kappa / delta,
            "n^{7/2}/(√m λ₀² κ δ²) of the proof": drift,
        },
        demands=demands,
    )


QUANTITIES = entries(theorem_3_1, theorem_4_1)
