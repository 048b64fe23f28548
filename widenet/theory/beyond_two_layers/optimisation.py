"""That the three-layer objective can always be lowered [beyond-two-layers, lemmas 6.7 and 6.8].

L'(λ, W, V) is the smoothed objective with its regulariser. As long as L' is above (1 + γ)·OPT + c·ε0/γ,
either a step √η(ΣW⋇, V⋇Σ) in the weights, on average over the signs Σ, or the decay λ → (1 − η)λ brings it
below (1 − ηγ/4)·L'. `widenet.networks.descent_direction` measures both on a network.
"""

from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import Number, context, four_digits, mpf
from widenet.theory.stated import Found, entries

LARGEST_GAMMA = 0.25


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.7",
    "What a second-order step or a decay brings the three-layer objective to",
    objective=Argument("objective L' now", low=0.0),
    OPT=Argument("risk OPT of the target", low=0.0),
    epsilon0=Argument("excess risk ε0", low=0.0, high=1.0, strict=True),
    gamma=Argument("constant γ", low=0.0, high=1.0, strict=True),
    eta=Argument("square η of the step, and share of λ that a decay takes", low=0.0, high=1.0, strict=True),
    c="in the limit (1+γ)·OPT + c·ε0/γ",
)
def lemma_6_7(
    objective: float,
    OPT: float,
    epsilon0: float,
    gamma: float = LARGEST_GAMMA,
    eta: float = 1e-3,
    *,
    c: float = 1.0,
) -> Found:
    """(1 − ηγ/4)·L'; `terms` has the limit, and how many rounds of it lead there [lemma 6.8]."""
    limit = (1 + mpf(gamma)) * OPT + c * mpf(epsilon0) / gamma
    factor = descent_factor(mpf(eta), mpf(gamma))
    after = factor * objective
    above = context.log(objective / limit) if objective > limit else mpf(0)
    rounds = above / -context.log1p(-mpf(eta) * gamma / 4)
    return Found(
        after,
        "L' ≤ (1 − ηγ/4)·L'",
        f"(1 − {eta:g}·{gamma:g}/4)·{objective:g} = {four_digits(after)}",
        {"limit": limit, "rounds to the limit": context.ceil(rounds)},
        (
            Demand("γ", gamma, "≤", LARGEST_GAMMA, "1/4"),
            Demand("objective L'", objective, "≥", limit, "(1+γ)·OPT + c·ε0/γ"),
        ),
        (
            "It is for η below 1/poly(m1, m2), λ above (ε/log(m1·m2))^Θ(1), and widths beyond a polynomial; "
            "the paper writes none of them down.",
        ),
    )


def descent_factor(eta: Number | float, gamma: Number | float) -> Number | float:
    """1 − ηγ/4."""
    return 1 - eta * gamma / 4


QUANTITIES = entries(lemma_6_7)
