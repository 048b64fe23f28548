"""The sizes at which the proofs of `beyond-two-layers` run, and the widths that they require.

The paper's M0 and M are polynomials that it does not write down; what its proofs require of them is here,
with every constant as 1. Two layers: `two_layer_widths`. Three layers: Table 1 and `three_layer_widths`.

Of the table the paper's plain text has left m^{1/2−0.005}, m^{3/4−0.005}, τ_v = m^{1/2−0.001} and what the
letters mean. The rest is put together from what the proofs use:
    τ'_v = m1^{1/2−0.005}/(√ε0·√m2), τ'_w = C_0/(ε0^{1/4}·m1^{3/4−0.005}): those of lemma 6.2, ‖V⋇‖_F and
        ‖W⋇‖_{2,4} with W⋇ scaled up and V⋇ down by m1^{0.005}, times what makes λ_v‖V⋇‖_F² = λ_w‖W⋇‖_{2,4}⁴
        = 2ε0. With these, ε0^{3/4}·√m2·m1^{1/4}·τ'_w·τ'_v = C_0, as a footnote of theorem 2's proof has it.
    λ_v = 2/τ'_v², λ_w = 2/τ'_w⁴: a bounded regulariser then bounds the norms by τ'.
    τ_v = m1^{1/2−0.001}/√m2; τ_w = m1^{−3/4+0.02} and σ_w = τ_w/m1^{1/4} are ours: lemma 6.5 has
        σ_w ≤ τ_w/m1^{1/4}, and lemma 6.9 requires m1·τ_{w,∞}²/σ_w = C_0²·m1^{−1+0.01}/σ_w to be small.
    σ_v = (ε/C_0)^q/√m2, as corollary 6.6 has ‖D'_v‖_0 ≤ (ε/C_0)^{Θ(1)}·m2; the power q is hidden, 1 here.
"""

from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
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

LITTLE, LESS = mpf("0.005"), mpf("0.001")  # legible in the table
OURS = mpf("0.02")  # where the table's own exponent is lost


@BEYOND_TWO_LAYERS.states(
    "Table 1",
    "Sizes at which the three-layer proofs run, and the width that they require",
    epsilon0=Argument("excess risk ε0", low=0.0, high=1.0, strict=True),
    epsilon=Argument("accuracy ε of the target's parts", low=0.0, high=1.0, strict=True),
    C_0=Argument("bound C_0 of lemma 6.2", low=0.0, strict=True),
    power="q in σ_v = (ε/C_0)^q/√m2",
)
def parameter_choices(
    m1: float, m2: float, epsilon0: float, epsilon: float, C_0: float, k: int = 1, *, power: float = 1.0
) -> Found:
    """The least m = m1 = m2 at which the lemmas' errors are as small as the proofs require, constants as 1.

    `terms` has the sizes at the given widths, and what each lemma requires of m by its logarithm.
    """
    sizes = table_sizes(mpf(m1), mpf(m2), mpf(epsilon0), mpf(epsilon), mpf(C_0), power)
    widths = three_layer_widths(mpf(epsilon0), mpf(epsilon), mpf(C_0), mpf(k))
    least = max(widths.values())
    which = max(widths, key=lambda name: widths[name])
    return Found(
        least,
        "least m with C_0·τ_v^(2/3) ≤ ε, τ_v ≤ ε, m·τ_{w,∞}²/σ_w ≤ ε, and lemma 6.11's error at τ' ≤ ε/k",
        f"least m = {four_digits(least)}, for {which}",
        {**sizes, **{f"log10 m for {name}": log10(width) for name, width in widths.items()}},
        notes=(
            "τ_w and σ_w have an exponent of our choice, which the proofs allow; the paper's is lost in its "
            "plain text.",
        ),
    )


def table_sizes(
    m1: Number, m2: Number, epsilon0: Number, epsilon: Number, C_0: Number, power: float = 1.0
) -> dict[str, Number]:
    """Every letter of the table."""
    second = m1 ** (mpf(0.5) - LITTLE) / context.sqrt(epsilon0 * m2)
    first = C_0 / (epsilon0 ** mpf(0.25) * m1 ** (mpf(0.75) - LITTLE))
    tau_w = m1 ** (OURS - mpf(0.75))
    return {
        "tau'_w": first,
        "tau'_v": second,
        "lambda_w": 2 / first**4,
        "lambda_v": 2 / second**2,
        "tau_w": tau_w,
        "tau_v": m1 ** (mpf(0.5) - LESS) / context.sqrt(m2),
        "sigma_w": tau_w / m1 ** mpf(0.25),
        "sigma_v": (epsilon / C_0) ** mpf(power) / context.sqrt(m2),
    }


def three_layer_widths(epsilon0: Number, epsilon: Number, C_0: Number, k: Number) -> dict[str, Number]:
    """The width m = m1 = m2 that each step of the proofs requires at Table 1's sizes, constants as 1.

    To be at most ε: C_0·τ_v^{2/3} of corollary 6.6, where τ_v^{2/3}·m signs of the second layer change, each
    worth C_0/m; lemma 6.5's cross term, √m2·τ_v/√m1 = m^{−0.001}; lemma 6.9's C_0²·m^{0.01−0.02}. To be at
    most ε/k: each of the three terms of lemma 6.11 at τ'_w and τ'_v.
    """
    share, scale = k / epsilon, C_0 * epsilon0 ** mpf(-0.25)
    first = mpf("1.6") * (mpf(0.75) - LITTLE) - mpf("0.9")  # τ'_w^{8/5}·m^{9/10} falls like m to minus this
    return {
        "the signs of Corollary 6.6": (C_0 / epsilon) ** (mpf(1.5) / LESS),
        "the cross term of Lemma 6.5": (1 / epsilon) ** (1 / LESS),
        "the smoothing of Lemma 6.9": (C_0**2 / epsilon) ** (1 / (OURS - 2 * LITTLE)),
        "the first term of Lemma 6.11": (share * scale ** mpf("1.6")) ** (1 / first),
        "the second term of Lemma 6.11": (share * scale ** mpf("3.2")) ** (1 / (2 * first - mpf(0.5))),
        "the third term of Lemma 6.11": (share / context.sqrt(epsilon0)) ** (1 / LITTLE),
    }


@BEYOND_TWO_LAYERS.states(
    "Lemma B.4",
    "Width that the proof of Theorem 1, on two layers, requires",
    epsilon=Argument("excess risk ε", low=0.0, high=1.0, strict=True),
    c="in M0",
)
def lemma_b_4(
    phi: str,
    k: int,
    p: int,
    epsilon: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c: float = 1.0,
) -> Found:
    """M0 of theorem 1 along its proof; `terms` has what each step requires, by its logarithm."""
    C_s = complexity_sum(phi, sample_weights(mpf(1), TWO_LAYER_POWER, mpf(c_star)), degree).value
    C = complexity_sum(phi, epsilon_weights(mpf(1), mpf(epsilon), mpf(c_star)), degree).value
    widths = two_layer_widths(C_s, C, mpf(k), mpf(p), mpf(epsilon))
    least = c * max(widths.values())
    return Found(
        least,
        "M0 = c·((k^2.5·p²·C_s²/ε² + k·p·C_ε/ε)·k⁶·p⁴·C_s⁴/ε³)²",
        f"C_s(φ,1) = {four_digits(C_s)} and C_ε(φ,1) = {four_digits(C)} give M0 = {four_digits(least)}",
        {f"log10 m for {name}": log10(width) for name, width in widths.items()},
        (Demand("C_ε(φ,1)", C, "<", INFINITY),),
        ("The paper says poly(C_ε(φ,1), 1/ε); this is the largest of what the steps of its proof require.",),
        constants={"C*": star_constant(c_star)},
    )


def two_layer_widths(C_s: Number, C: Number, k: Number, p: Number, epsilon: Number) -> dict[str, Number]:
    """The width M0 that each step of theorem 1's proof requires, constants as 1, with C = C_ε(φ,1).

    At η = 1/(εkm), T = C_s²k³p²/ε² and ε_a = ε, so that ηT = C_s²k²p²/(mε³):
    concentration: kpC/√m ≤ ε [lemma B.1]; coupling: ε_a k(ε_a ηT)²m^{3/2} ≤ ε [lemma B.3(b)];
    descent: (√k ε_a ηT + kpC/(ε_a m))·Δ ≤ ε with Δ = k⁶p⁴C_s⁴√m/ε² [lemma B.4].
    """
    farthest = k ** mpf(2.5) * p**2 * C_s**2 / epsilon**2 + k * p * C / epsilon
    return {
        "the concentration of Lemma B.1": (k * p * C / epsilon) ** 2,
        "the coupling of Lemma B.3": (k**5 * p**4 * C_s**4 / epsilon**4) ** 2,
        "the descent of Lemma B.4": (farthest * k**6 * p**4 * C_s**4 / epsilon**3) ** 2,
    }


QUANTITIES = entries(lemma_b_4, parameter_choices)
