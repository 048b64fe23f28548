"""That good weights exist near initialisation [beyond-two-layers, section 6.2 and appendix B.1].

Lemma 6.4 writes the input n_1(x) of a neuron of the second layer as ρ·φ(⟨w*, x⟩) + B + R. Lemma 6.2 builds W⋇
and V⋇ from it with which the bias-free pseudo network is the target (4.1). Norms and sizes are lost in the
paper's plain text, and follow from the proofs (C.2 to C.4): ‖w⋇‖ ≤ C_0/m1 and ‖v⋇‖ ≤ √m1/m2 are the only pair
with which corollary 6.6 bounds its two sums by C_0√(‖D'_w‖_0/m1) and C_0‖D'_v‖_0/m2. The proof of 6.4 has
ρ = α·x_d·√(τm1)/(C√m2) with α ~ N(0, 1/m1), τ = 1/100 and x_d = 1/2, whose standard deviation is 1/(20C√m2);
the paper has 1/(10C√m2), without the x_d, and C' = 10C√p2. The paper's is computed.
`widenet.networks.information` and `widenet.networks.constructed_pair` measure both lemmas.
"""

from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.beyond_two_layers.theorems import three_layer_complexities
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import context, four_digits, log10, mpf
from widenet.theory.smooth.complexity import (
    C_STAR,
    TWO_LAYER_POWER,
    complexity_sum,
    epsilon_weights,
    sample_weights,
    star_constant,
)
from widenet.theory.stated import Found, entries


@BEYOND_TWO_LAYERS.states(
    "Lemma A.1",
    "Probability that a sum over m Gaussian neurons is far from its mean",
    L=Argument("bound L on |h|", low=0.0),
    B=Argument("number B of deviations", low=1.0),
)
def lemma_a_1(m: float, L: float, B: float) -> Found:
    """The bound 4e^{−B²/8} on the probability that Σ_i a_{1,i}a_{2,i}I[n_i ≥ 0]h(α_i) is BL(√m + B) or more.

    The same holds of Σ_i a_{1,i}²I[n_i ≥ 0]h(α_i) less its mean; a_{1,i} and a_{2,i} are standard normal.
    """
    probability = min(mpf(1), 4 * context.exp(-(mpf(B) ** 2) / 8))
    deviation = mpf(B) * L * (context.sqrt(m) + B)
    return Found(
        probability,
        "P(|Σ − E Σ| ≥ B·L·(√m + B)) ≤ 4·e^(−B²/8)",
        f"P(|Σ − E Σ| ≥ {four_digits(deviation)}) ≤ 4·e^(−{B:g}²/8) = {four_digits(probability)}",
        {"deviation": deviation},
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma B.1",
    "Norms of the weights near initialisation at which two layers compute a target (3.1)",
    epsilon=Argument("accuracy ε", low=0.0, high=1.0, strict=True),
    epsilon_a=Argument("standard deviation ε_a of the output weights", low=0.0, strict=True),
    c="in both Õ",
)
def lemma_b_1(
    phi: str,
    k: int,
    p: int,
    epsilon: float,
    m: float,
    epsilon_a: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c: float = 1.0,
) -> Found:
    """The bound on ‖W⋇‖_F; `terms` has that on the largest row. `widenet.networks.constructed` builds W⋇."""
    C_s = complexity_sum(phi, sample_weights(mpf(1), TWO_LAYER_POWER, mpf(c_star)), degree).value
    C = complexity_sum(phi, epsilon_weights(mpf(1), mpf(epsilon), mpf(c_star)), degree).value
    total = c * k * p * C_s / (mpf(epsilon_a) * context.sqrt(m))
    largest = 1 / (p * k * C_s) if C_s else context.inf
    return Found(
        total,
        "‖W⋇‖_F ≤ c·k·p·C_s(φ,1)/(ε_a·√m)",
        f"{c:g}·{k}·{p}·{four_digits(C_s)}/({epsilon_a:g}·√{m:g}) = {four_digits(total)}",
        {"log10 largest row of W": log10(c * k * p * C / (mpf(epsilon_a) * m))},
        (Demand("ε", epsilon, "<", largest, "1/(p·k·C_s)"),),
        ("‖w⋇_i‖ ≤ c·k·p·C_ε(φ,1)/(ε_a·m).",),
        constants={"C*": star_constant(c_star)},
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.4",
    "Sizes of ρ, B and R in n(x) = ρ·φ(⟨w*, x⟩) + B + R, at a random neuron of the second layer",
    epsilon=Argument("accuracy ε of φ", low=0.0, high=1.0, strict=True),
    c="in every Õ of the statement",
)
def lemma_6_4(
    phi: str,
    epsilon: float,
    m1: float,
    m2: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c: float = 1.0,
) -> Found:
    """The standard deviation of ρ; `terms` has the bounds on B, on R, and on ρ's distance from a Gaussian."""
    C = complexity_sum(phi, epsilon_weights(mpf(1), mpf(epsilon), mpf(c_star)), degree).value
    deviation = 1 / (10 * C * context.sqrt(m2)) if C else context.inf
    both = 1 / context.sqrt(mpf(m1) * m2)
    return Found(
        deviation,
        "√Var ρ = 1/(10·C·√m2), C = C_ε(φ,1)",
        f"1/(10·{four_digits(C)}·√{m2:g}) = {four_digits(deviation)}",
        {
            "log10 C_epsilon(phi)": log10(C),
            "bound on |B|": c / context.sqrt(m2),
            "bound on |R|": c * both,
            "Wasserstein distance of ρ from a Gaussian independent of W": c * both / C if C else mpf(0),
        },
        (Demand("C_ε(φ,1)", C, "<", context.inf),),
        ("|B| ≤ c/√m2, |R| ≤ c/√(m1·m2), W_2 ≤ c/(C·√(m1·m2)).",),
        constants={"C*": star_constant(c_star)},
    )


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.2",
    "Norms of the weights near initialisation at which three layers compute a target (4.1)",
    epsilon0=Argument("ε0, of which ε is a share", low=0.0, high=1.0, strict=True),
    c="in C_0",
)
def lemma_6_2(
    phi: str,
    Phi: str,
    k: int,
    p1: int,
    p2: int,
    epsilon0: float,
    m1: float,
    m2: float,
    *,
    c_star: float = C_STAR,
    degree: int = 0,
    c: float = 1.0,
) -> Found:
    """C_0; `terms` has the bounds ‖W⋇‖_{2,∞} ≤ C_0/m1 and ‖V⋇‖_{2,∞} ≤ √m1/m2 by their logarithms."""
    found = three_layer_complexities(phi, Phi, k, p1, p2, epsilon0, c_star=c_star, degree=degree)
    C_0 = c * found.C_0
    return Found(
        C_0,
        "C_0 = c·C_ε(Φ, √p2·C_ε(φ,1))·C_ε(φ,1)·p1·√p2·k",
        f"C_0 = {c:g}·{four_digits(found.outer)}·{four_digits(found.inner)}·{p1}·√{p2}·{k} = "
        f"{four_digits(C_0)}",
        {
            "log10 epsilon": log10(found.epsilon),
            "log10 largest row of W": log10(C_0 / m1),
            "log10 largest row of V": log10(context.sqrt(m1) / mpf(m2)),
        },
        (Demand("ε0", epsilon0, "<", 1),),
        (
            "‖w⋇_i‖ ≤ C_0/m1 and ‖v⋇_i‖ ≤ √m1/m2, and every output of the bias-free pseudo network is within "
            "ε of the target on average.",
            "Both widths must be at least a polynomial in C_ε(Φ, √p2·C_ε(φ,1)) and 1/ε that the paper does "
            "not write down.",
        ),
        constants={"C*": star_constant(c_star)},
    )


QUANTITIES = entries(lemma_a_1, lemma_b_1, lemma_6_4, lemma_6_2)
