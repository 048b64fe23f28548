"""Theorems of `resnet-beyond-kernels`: what a three-layer ResNet learns, and kernels do not.

The target is H = F + αG(F) of Concept 1 or 2, with k outputs.
"""

import math

from widenet.theory.demand import Demand
from widenet.theory.numbers import context, four_digits, mpf
from widenet.theory.resnet_beyond_kernels.symbols import HARD_CLASS, RESNET
from widenet.theory.stated import Found, entries

NUM_FUNCTIONS_PER_SAMPLE = 1000  # of Theorems 2 and 3


@RESNET.states(
    "Theorem 1",
    "Samples, steps and rates with which SGD on a three-layer ResNet reaches risk δ",
    c_alpha="in the range of α",
    c_delta="in the least δ",
    c_T="in T",
    c_w="in η_w = c_w·min(1, δ)",
    c_v="in η_v = η_w·c_v·(α·p_G·C_G/(p_F·C_F))²",
)
def theorem_1(
    k: int,
    p_F: int,
    C_F: float,
    p_G: int,
    C_G: float,
    alpha: float,
    delta: float,
    OPT: float = 0.0,
    B_F: float = 1.0,
    *,
    c_alpha: float = 1.0,
    c_delta: float = 1.0,
    c_T: float = 1.0,
    c_w: float = 1.0,
    c_v: float = 1.0,
) -> Found:
    """Steps of SGD, one fresh sample each, after which the ResNet has average risk O(δ)."""
    G = mpf(k) * p_G * mpf(C_G)
    largest_alpha, least_delta = c_alpha / G, OPT + c_delta * (alpha * G) ** 4 * (1 + mpf(B_F)) ** 2
    T = c_T * (mpf(k) * p_F * mpf(C_F)) ** 2 / min(mpf(1), mpf(delta) ** 2)
    eta_w = c_w * min(1.0, delta)
    eta_v = eta_w * c_v * (mpf(alpha) * p_G * mpf(C_G) / (p_F * mpf(C_F))) ** 2
    demands = (
        Demand("α", alpha, "≤", largest_alpha, "c_α/(k·p_G·C_G)"),
        Demand("δ", delta, "≥", least_delta, "OPT + c_δ·α⁴(k·p_G·C_G)⁴(1+B_F)²"),
    )
    return Found(
        T,
        "T = c_T·(k·p_F·C_F)²/min(1, δ²)",
        f"T = {c_T:g}·({k}·{p_F}·{C_F:g})²/min(1, {delta:g}²) = {four_digits(T)}",
        {
            "samples": T,
            "eta_w": eta_w,
            "eta_v": eta_v,
            "least delta": least_delta,
            "largest alpha": largest_alpha,
        },
        demands,
        (
            "The width must be at least a polynomial in C_α(F), C_α(G), p_F and 1/α that the paper does not "
            "write down; resnet-table-1 gives the width that its parameters require.",
        ),
    )


@HARD_CLASS.states(
    "Corollary 7.1",
    "Samples from which a ResNet learns the class (7.1)",
    c_N="in N",
    c_risk="in the risk c_risk·α⁴·2^(c_k·k)",
    c_alpha="in the range of α",
    c_k="in 2^O(k) = 2^(c_k·k)",
)
def corollary_7_1(
    d: int,
    d1: int,
    k: int,
    alpha: float,
    *,
    c_N: float = 1.0,
    c_risk: float = 1.0,
    c_alpha: float = 1.0,
    c_k: float = 1.0,
) -> Found:
    """Samples from which the ResNet learns any function of the class (7.1) with risk about α⁴."""
    N = c_N * mpf(k) ** 2 * d / mpf(alpha) ** 8
    blowup = mpf(2) ** (c_k * k)
    risk, largest_alpha = c_risk * mpf(alpha) ** 4 * blowup, 1 / (c_alpha * blowup)
    demands = (*_ordered(k, d1, d), Demand("α", alpha, "<", largest_alpha, "1/(c_α·2^(c_k·k))"))
    return Found(
        N,
        "N = c_N·k²·d/α⁸",
        f"N = {c_N:g}·{k}²·{d}/{alpha:g}⁸ = {four_digits(N)}",
        {"samples": N, "risk": risk, "largest alpha": largest_alpha},
        demands,
        ("The width must be at least a polynomial in d, 2^k and 1/α.",),
    )


@HARD_CLASS.states("Theorem 2", "Risk of kernels fixed before the labels on most of the class (7.1): above")
def theorem_2(d: int, d1: int, k: int, N: int, alpha: float) -> Found:
    """Risk that every kernel fixed before the labels exceeds, from N samples, on 99% of the class (7.1)."""
    return _hard_class("N", d, d1, k, N, alpha)


@HARD_CLASS.states(
    "Theorem 3", "Risk of linear regression over D fixed features on most of the class (7.1): above"
)
def theorem_3(d: int, d1: int, k: int, D: int, alpha: float) -> Found:
    """Risk that linear regression over any D features exceeds on 99% of the class (7.1)."""
    return _hard_class("D", d, d1, k, D, alpha)


@HARD_CLASS.states(
    "Theorem 2 of the conference version",
    "The same for correlation kernels, as the conference version has it",
    "resnet-theorem-2-conference",
    c_N="in the largest N",
    c_alpha="in the least α",
)
def theorem_2_conference(
    d: int, k: int, N: int, alpha: float, *, c_N: float = 1.0, c_alpha: float = 1.0
) -> Found:
    """The conference version: correlation kernels, x uniform on the cube, with probability 0.99."""
    largest_N = c_N * mpf(d) ** (mpf(k) / 2) / context.log(d) ** k
    least_alpha, risk = c_alpha * mpf(d) ** (-mpf(k) / 4), mpf(alpha) ** 2 / 4
    demands = (
        Demand("k", k, "≥", 4),
        Demand("k", k, "≤", d, "d"),
        Demand("N", N, "≤", largest_N, "c_N·d^(k/2)/(ln d)^k"),
        Demand("α", alpha, "≥", least_alpha, "c_α·d^(−k/4)"),
    )
    return Found(
        risk,
        "E‖H(x) − K(x)‖² > α²/4",
        f"E‖H(x) − K(x)‖² > {alpha:g}²/4 = {four_digits(risk)}",
        {"risk": risk, "largest N": largest_N, "least alpha": least_alpha},
        demands,
        ("It holds for d beyond a bound that the paper does not give.",),
    )


@RESNET.states("Section 5 and Fact A.3", "Bounds B_F, L_G and B_F∘G on F and G", "resnet-fact-a.3")
def fact_a3(k: int, p_F: int, C_F: float, p_G: int, C_G: float) -> Found:
    """Bound on ‖G(F(x))‖ for ‖x‖ = 1, with the bounds B_F on ‖F(x)‖ and L_G on G's Lipschitz constant.

    Section 5 has B_F∘G ≤ L_G B_F + √k p_G C_G ≤ k p_F C_F p_G C_G. Its last step drops √k p_G C_G, which
    bounds ‖G(0)‖: a share 1/B_F of the first term.
    """
    B_F, L_G = context.sqrt(k) * p_F * mpf(C_F), context.sqrt(k) * p_G * mpf(C_G)
    return Found(
        B_F * L_G,
        "B_F∘G ≤ k·p_F·C_F·p_G·C_G, with B_F ≤ √k·p_F·C_F and L_G ≤ √k·p_G·C_G",
        f"B_F∘G ≤ {k}·{p_F}·{C_F:g}·{p_G}·{C_G:g} = {four_digits(B_F * L_G)}",
        {"B_F": B_F, "L_G": L_G, "B_FG": B_F * L_G, "B_FG before the last step": L_G * B_F + L_G},
        notes=(
            "The last step leaves out the bound √k·p_G·C_G on ‖G(0)‖, a share 1/B_F of the rest, which C* in "
            "C_F and C_G makes up for; resnet-fact-a.3-slope has the room that it leaves.",
        ),
    )


def _hard_class(symbol: str, d: int, d1: int, k: int, number: int, alpha: float) -> Found:
    num_functions = math.comb(d1, k)
    demands = (
        *_ordered(k, d1, d),
        Demand(symbol, number, "≤", mpf(num_functions) / NUM_FUNCTIONS_PER_SAMPLE, "C(d1,k)/1000"),
    )
    risk = mpf(alpha) ** 2 / 16
    learner = "K" if symbol == "N" else "F"
    return Found(
        risk,
        f"E‖H(x) − {learner}(x)‖² > α²/16",
        f"E‖H(x) − {learner}(x)‖² > {alpha:g}²/16 = {four_digits(risk)}",
        {
            "risk": risk,
            "functions in the class": mpf(num_functions),
            f"largest {symbol}": mpf(num_functions // NUM_FUNCTIONS_PER_SAMPLE),
            "share of the class": 0.99,
        },
        demands,
    )


def _ordered(k: int, d1: int, d: int) -> tuple[Demand, ...]:
    return Demand("k", k, "≤", d1, "d1"), Demand("d1", d1, "≤", d, "d")


QUANTITIES = entries(theorem_1, corollary_7_1, theorem_2, theorem_2_conference, theorem_3, fact_a3)
