"""Rademacher complexities near initialisation [beyond-two-layers, lemmas 6.10, 6.12 and B.5].

The first two are of the networks with ‖W'‖_{2,4} ≤ τ_w and ‖V'‖_F ≤ τ_v around one initialisation, on N
inputs of norm 1. Of the statements the plain text has fragments only; the formulas follow from the proofs:
    6.10 truncating V' at δ costs τ_v²/δ·(1/√m1 + τ_w) (C.43), and the rest has complexity
         m2·(τ_w/√N·(m1/√m2 + δm1) + τ_v/√N). The best δ makes the two terms with δ equal, and their sum
         2τ_v√(m1m2τ_w(1/√m1 + τ_w))/N^{1/4}.
    6.12 the bilinear part is at most ‖W'‖_F ≤ m1^{1/4}τ_w times τ_v·√(m2N)/N; lemma 6.11's error is added.
"""

from widenet.theory.beyond_two_layers.coupling import IN_EACH, coupling_demands, stronger_coupling
from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.entry import Argument
from widenet.theory.numbers import context, four_digits, mpf
from widenet.theory.stated import Found, entries


@BEYOND_TWO_LAYERS.states(
    "Lemma B.5",
    "Rademacher complexity of two layers near initialisation",
    tau_w_max=Argument("bound τ_{w,∞} on the largest row of W'", low=0.0),
    epsilon_a=Argument("standard deviation ε_a of the output weights", low=0.0),
    c=IN_EACH,
)
def lemma_b_5(m: float, N: int, tau_w_max: float, epsilon_a: float, *, c: float = 1.0) -> Found:
    """The bound for one output of two layers of which no row moves further than τ_{w,∞}."""
    total = c * mpf(epsilon_a) * m * tau_w_max / context.sqrt(N)
    return Found(
        total,
        "R ≤ c·ε_a·m·τ_{w,∞}/√N",
        f"{c:g}·{epsilon_a:g}·{m:g}·{tau_w_max:g}/√{N} = {four_digits(total)}",
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.10", "Rademacher complexity of three layers near initialisation (Algorithm 3)", c=IN_EACH
)
def lemma_6_10(m1: float, m2: float, N: int, tau_w: float, tau_v: float, *, c: float = 1.0) -> Found:
    """The bound for one output of the real network, without random signs."""
    m, n, w, v = mpf(m1), mpf(m2), mpf(tau_w), mpf(tau_v)
    root, fourth = mpf(N) ** mpf(-0.5), mpf(N) ** mpf(-0.25)
    parts = {
        "τ_w·m1·√m2/√N": c * w * m * context.sqrt(n) * root,
        "τ_v·m2/√N": c * v * n * root,
        "τ_v·√(m1·m2·τ_w·(1/√m1 + τ_w))/N^(1/4)": c
        * v
        * context.sqrt(m * n * w * (1 / context.sqrt(m) + w))
        * fourth,
    }
    total = context.fsum(parts.values())
    return Found(
        total,
        "R ≤ c·((τ_w·m1·√m2 + τ_v·m2)/√N + τ_v·√(m1·m2·τ_w·(1/√m1 + τ_w))/N^(1/4))",
        f"{c:g}·(({tau_w:g}·{m1:g}·√{m2:g} + {tau_v:g}·{m2:g})/√{N} + "
        f"{tau_v:g}·√({m1:g}·{m2:g}·{tau_w:g}·(1/√{m1:g} + {tau_w:g}))/{N}^0.25) = {four_digits(total)}",
        parts,
        notes=(
            "Theorem 3's N ≥ M·m^1.5 makes the last term small; τ_v·m2/√N is small from N of order τ_v²·m2² "
            "on.",
        ),
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.12", "Rademacher complexity of three layers averaged over random signs (Algorithm 2)", c=IN_EACH
)
def lemma_6_12(m1: float, m2: float, N: int, tau_w: float, tau_v: float, *, c: float = 1.0) -> Found:
    """The bound for one output of E_Σ f(W⁽⁰⁾ + Wᵖ + ΣW', V⁽⁰⁾ + Vᵖ + V'Σ)."""
    m, n, w, v = mpf(m1), mpf(m2), mpf(tau_w), mpf(tau_v)
    bilinear = w * v * m ** mpf(0.25) * context.sqrt(n / mpf(N))
    parts = {"τ_w·τ_v·m1^(1/4)·√m2/√N": bilinear, **stronger_coupling(m, n, w, v)}
    parts = {name: c * part for name, part in parts.items()}
    total = context.fsum(parts.values())
    return Found(
        total,
        "R ≤ c·(τ_w·τ_v·m1^(1/4)·√m2/√N + τ_w^(8/5)·m1^(9/10) + τ_w^(16/5)·m1^(9/5)·√m2 + τ_v·√(m2/m1))",
        f"{c:g}·({tau_w:g}·{tau_v:g}·{m1:g}^0.25·√{m2:g}/√{N} + {four_digits(total / c - bilinear)}) = "
        f"{four_digits(total)}",
        parts,
        coupling_demands(m, tau_w, tau_v),
        ("The last three terms are lemma 6.11's error, which no number of samples lowers.",),
    )


QUANTITIES = entries(lemma_b_5, lemma_6_10, lemma_6_12)
