"""Near initialisation: how many signs change, and what that does to outputs [beyond-two-layers, section 6].

The first hidden layer has m1 neurons and the second m2. W' and V' are what training adds to the initial
weights, with ‖W'‖_{2,4} ≤ τ_w and ‖V'‖_F ≤ τ_v; Wᵖ and Vᵖ are Gaussian with standard deviations σ_w and σ_v.
Each Õ is a factor `c`, 1 by default.

The plain text of the paper has lost most of these formulas. They are put together again from the proofs in
appendix C, step by step; the fragments that are left of the statements agree with them:
    6.5  ranges of τ and σ from "τ_w ≤ m1^{−1/4}", "σ_w ≤ τ_w/m1^{1/4}" and (C.25), which has τ_w ≤ m1^{−1/2}.
    6.9  ♣ is m1·(ητ_{w,∞}/σ_w)·(ητ_{w,∞}); ♠ is m2·δ²/σ_v at δ = η(τ_{v,∞}/√m1 + τ_{w,∞}).
    6.11 the sum of (C.29), (C.30) and (C.31), of which three terms rule where τ_v ≤ 1 and τ_w ≥ m1^{−3/4}.
"""

from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import Number, context, four_digits, mpf
from widenet.theory.stated import Found, entries

IN_EACH = "in every Õ of the statement"


@BEYOND_TWO_LAYERS.states(
    "Claim C.8",
    "Signs of a random layer that a given change of its inputs can turn",
    g1=Argument("Euclidean norm of the part g'_1 of the change", low=0.0),
    g2=Argument("largest entry of the part g'_2 of the change", low=0.0),
    c="in both O",
)
def claim_c_8(m2: float, g1: float, g2: float = 0.0, *, c: float = 1.0) -> Found:
    """Bounds on the number of signs that differ between Vh and Vh + g'_1 + g'_2, V ~ N(0, 1/m2), ‖h‖ = 1.

    `terms` has the bound on Σ|(Vh + g')_j| over them as well.
    """
    changes, change = flipped_signs(mpf(m2), mpf(g1), mpf(g2))
    return Found(
        c * changes,
        "‖x‖_0 ≤ c·(m2·‖g'_1‖^(2/3) + m2^(3/2)·‖g'_2‖_∞)",
        f"{c:g}·({m2:g}·{g1:g}^(2/3) + {m2:g}^1.5·{g2:g}) = {four_digits(c * changes)}",
        {"sum of their sizes": c * change},
        (
            Demand("‖g'_1‖", g1, "≤", 1),
            Demand("‖g'_2‖_∞", g2, "≤", 1 / (4 * context.sqrt(m2)), "1/(4√m2)"),
        ),
    )


def flipped_signs(m2: Number, g1: Number, g2: Number) -> tuple[Number, Number]:
    """Claim C.8 without its constant: the bounds on ‖x‖_0 and on ‖x‖_1."""
    return (
        m2 * g1 ** (mpf(2) / 3) + m2 ** mpf(1.5) * g2,
        context.sqrt(m2) * g1 ** (mpf(4) / 3) + m2 ** mpf(1.5) * g2**2,
    )


def first_layer_changes(m1: Number, tau_w: Number) -> Number:
    """τ_w^{4/5} m1^{6/5}, signs of the first layer that W' changes [lemma 6.5, without its constant]."""
    return tau_w ** mpf("0.8") * m1 ** mpf("1.2")


@BEYOND_TWO_LAYERS.states(
    "Lemma B.3",
    "How far two layers under SGD are from their pseudo network",
    epsilon_a=Argument("standard deviation ε_a of the output weights", low=0.0),
    eta=Argument("step size η", low=0.0),
    t=Argument("number t of steps", low=0),
    c=IN_EACH,
)
def lemma_b_3(m: float, k: int, epsilon_a: float, eta: float, t: int, *, c: float = 1.0) -> Found:
    """The bound on |f_r − g_r| after t steps, with τ = ε_a·η·t.

    `terms` has the share of signs that change, and the bound on the gradients' distance, summed over neurons.
    """
    n, a, tau = mpf(m), mpf(epsilon_a), mpf(epsilon_a) * mpf(eta) * t
    gap = c * a * k * tau**2 * n ** mpf(1.5)
    return Found(
        gap,
        "|f − g| ≤ c·ε_a·k·τ²·m^(3/2), τ = ε_a·η·t",
        f"{c:g}·{epsilon_a:g}·{k}·{four_digits(tau)}²·{m:g}^1.5 = {four_digits(gap)}",
        {
            "share of signs that change": c * tau * context.sqrt(k * n),
            "distance of the gradients": c
            * (a * k * tau * n ** mpf(1.5) + a**2 * k**2 * tau**2 * n ** mpf(2.5)),
        },
        notes=(
            "c·τ·√(k·m) of the signs change, and the gradients of the loss differ by "
            "c·(ε_a·k·τ·m^(3/2) + ε_a²·k²·τ²·m^(5/2)).",
        ),
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.5",
    "Sign changes of both layers, and the cross term that random signs leave, near initialisation",
    eta=Argument("size η of the step (W'', V'')", low=0.0),
    c=IN_EACH,
)
def lemma_6_5(
    m1: float,
    m2: float,
    tau_w: float,
    tau_v: float,
    sigma_w: float,
    sigma_v: float,
    eta: float = 1.0,
    *,
    c: float = 1.0,
) -> Found:
    """The bound on |g'|, the part of g(W + ηΣW'', V + ηV''Σ) that is of first order in Σ.

    ‖W''‖_{2,4} ≤ τ_w and ‖V''‖_F ≤ τ_v too. `terms` has the numbers of signs that W' + Wᵖ and V' + Vᵖ change.
    """
    m, n, w, v = mpf(m1), mpf(m2), mpf(tau_w), mpf(tau_v)
    cross = c * mpf(eta) * context.sqrt(n) * (v / context.sqrt(m) + w)
    second = mpf(sigma_v) * n ** mpf(1.5) + flipped_signs(n, v, mpf(0))[0]
    second += flipped_signs(n, w * m ** mpf(0.25), mpf(0))[0]
    return Found(
        cross,
        "|g'| ≤ c·η·(√m2·τ_v/√m1 + √m2·τ_w)",
        f"{c:g}·{eta:g}·√{m2:g}·({tau_v:g}/√{m1:g} + {tau_w:g}) = {four_digits(cross)}",
        {
            "sign changes of the first layer": c * first_layer_changes(m, w),
            "sign changes of the second layer": c * second,
            "share of the first layer": c * first_layer_changes(m, w) / m,
            "share of the second layer": c * second / n,
        },
        (
            Demand("τ_v", tau_v, "≤", 1),
            Demand("τ_w", tau_w, "≥", m ** mpf(-1.5), "m1^(−3/2)"),
            Demand("τ_w", tau_w, "≤", m ** mpf(-0.5), "m1^(−1/2)"),
            Demand("σ_w", sigma_w, "≥", m ** mpf(-1.5), "m1^(−3/2)"),
            Demand("σ_w", sigma_w, "≤", w * m ** mpf(-0.25), "τ_w·m1^(−1/4)"),
            Demand("σ_v", sigma_v, "≤", n ** mpf(-0.5), "m2^(−1/2)"),
        ),
        (
            "First layer: c·τ_w^(4/5)·m1^(6/5) signs; second: "
            "c·(σ_v·m2^(3/2) + τ_v^(2/3)·m2 + τ_w^(2/3)·m1^(1/6)·m2).",
        ),
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.9", "How far the smoothed network is from its pseudo network after a small step", c=IN_EACH
)
def lemma_6_9(
    m1: float,
    m2: float,
    tau_w_max: float,
    tau_v_max: float,
    sigma_w: float,
    sigma_v: float,
    *,
    c: float = 1.0,
) -> Found:
    """The bound on E|P − P'|/η² over the noise Wᵖ, Vᵖ, up to a term that vanishes with the step η."""
    sizes = smoothing_errors(*map(mpf, (m1, m2, tau_w_max, tau_v_max, sigma_w, sigma_v)))
    parts = {name: c * size for name, size in sizes.items()}
    total = context.fsum(parts.values())
    return Found(
        total,
        "E|P − P'|/η² ≤ c·(m1·τ_{w,∞}²/σ_w + m2·τ_{w,∞}²/σ_v + m2·τ_{v,∞}²/(m1·σ_v))",
        f"{c:g}·({m1:g}·{tau_w_max:g}²/{sigma_w:g} + {m2:g}·{tau_w_max:g}²/{sigma_v:g} + "
        f"{m2:g}·{tau_v_max:g}²/({m1:g}·{sigma_v:g})) = {four_digits(total)}",
        parts,
        notes=("It is for steps η below 1/poly(m1, m2), a polynomial that the paper does not write down.",),
    )


def smoothing_errors(
    m1: Number, m2: Number, tau_w_max: Number, tau_v_max: Number, sigma_w: Number, sigma_v: Number
) -> dict[str, Number]:
    """The three terms of lemma 6.9's bound, without their constant."""
    return {
        "signs of the first layer": m1 * tau_w_max**2 / sigma_w,
        "signs of the second layer, by W''": m2 * tau_w_max**2 / sigma_v,
        "signs of the second layer, by V''": m2 / m1 * tau_v_max**2 / sigma_v,
    }


def stronger_coupling(m1: Number, m2: Number, tau_w: Number, tau_v: Number) -> dict[str, Number]:
    """The three terms of lemma 6.11's error, without their constant."""
    first = tau_w ** mpf("1.6") * m1 ** mpf("0.9")
    return {
        "τ_w^(8/5)·m1^(9/10)": first,
        "τ_w^(16/5)·m1^(9/5)·√m2": first**2 * context.sqrt(m2),
        "τ_v·√(m2/m1)": tau_v * context.sqrt(m2 / m1),
    }


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.11",
    "Error of the pseudo network for the real one, with random signs Σ from the start",
    c=IN_EACH,
)
def lemma_6_11(m1: float, m2: float, tau_w: float, tau_v: float, *, c: float = 1.0) -> Found:
    """The bound on |f(W⁽⁰⁾ + ΣW', V⁽⁰⁾ + V'Σ) − f(W⁽⁰⁾, V⁽⁰⁾) − A D_v V' D_w W'x|, for one x and output."""
    sizes = stronger_coupling(*map(mpf, (m1, m2, tau_w, tau_v)))
    parts = {name: c * size for name, size in sizes.items()}
    total = context.fsum(parts.values())
    return Found(
        total,
        "c·(τ_w^(8/5)·m1^(9/10) + τ_w^(16/5)·m1^(9/5)·√m2 + τ_v·√(m2/m1))",
        f"{c:g}·({tau_w:g}^1.6·{m1:g}^0.9 + {tau_w:g}^3.2·{m1:g}^1.8·√{m2:g} + {tau_v:g}·√({m2:g}/{m1:g})) = "
        f"{four_digits(total)}",
        parts,
        coupling_demands(mpf(m1), tau_w, tau_v),
    )


def coupling_demands(m1: Number, tau_w: float, tau_v: float) -> tuple[Demand, ...]:
    """The range of lemmas 6.11 and 6.12."""
    return (
        Demand("τ_v", tau_v, "≤", 1),
        Demand("τ_w", tau_w, "≥", m1 ** mpf(-0.75), "m1^(−3/4)"),
        Demand("τ_w", tau_w, "≤", m1 ** mpf("-0.5625"), "m1^(−9/16)"),
    )


QUANTITIES = entries(lemma_b_3, claim_c_8, lemma_6_5, lemma_6_9, lemma_6_11)
