"""Theorems of `resnet-beyond-kernels`: what a three-layer ResNet learns, and what no kernel does.

The target is H = F + αG(F) of Concept 1 or 2, with k outputs; p_F, C_F = C_s(F) and p_G, C_G = C_s(G) are the
numbers of terms and the complexities of F and G. Factors that the paper hides in O, Θ and polylog(m) are
arguments of their own, 1 by default, and shown as such.
"""

import math

from widenet.theory.demand import Demand, all_met, in_words
from widenet.theory.entry import Argument, Entry, hidden_argument
from widenet.theory.quantity import Citation, Quantity, hidden_constant
from widenet.theory.smooth.complexity import as_float, four_digits, log10
from widenet.theory.smooth.series import context, mpf

PAPER = "resnet-beyond-kernels"
NUM_FUNCTIONS_PER_SAMPLE = 1000  # of Theorems 2 and 3


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
) -> Quantity:
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
    return Quantity(
        "resnet-theorem-1",
        as_float(T),
        "T = c_T·(k·p_F·C_F)²/min(1, δ²)",
        f"T = {c_T:g}·({k}·{p_F}·{C_F:g})²/min(1, {delta:g}²) = {four_digits(T)}",
        {
            "samples": as_float(T),
            "eta_w": eta_w,
            "eta_v": as_float(eta_v),
            "least delta": as_float(least_delta),
            "largest alpha": as_float(largest_alpha),
        },
        all_met(demands),
        (
            *in_words(demands),
            "The width must be at least a polynomial in C_α(F), C_α(G), p_F and 1/α that the paper does not "
            "write down; resnet-table-1 gives the width that its parameters require.",
        ),
        Citation(PAPER, "Theorem 1"),
        log10(T),
        {
            "c_alpha": hidden_constant(c_alpha, "in the range of α"),
            "c_delta": hidden_constant(c_delta, "in the least δ"),
            "c_T": hidden_constant(c_T, "in T"),
            "c_w": hidden_constant(c_w, "in η_w = c_w·min(1, δ)"),
            "c_v": hidden_constant(c_v, "in η_v = η_w·c_v·(α·p_G·C_G/(p_F·C_F))²"),
        },
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
) -> Quantity:
    """Samples from which the ResNet learns any function of the class (7.1) with risk about α⁴."""
    N = c_N * mpf(k) ** 2 * d / mpf(alpha) ** 8
    blowup = mpf(2) ** (c_k * k)
    risk, largest_alpha = c_risk * mpf(alpha) ** 4 * blowup, 1 / (c_alpha * blowup)
    demands = (
        *_ordered(k, d1, d),
        Demand("α", alpha, "<", largest_alpha, "1/(c_α·2^(c_k·k))"),
    )
    return Quantity(
        "resnet-corollary-7.1",
        as_float(N),
        "N = c_N·k²·d/α⁸",
        f"N = {c_N:g}·{k}²·{d}/{alpha:g}⁸ = {four_digits(N)}",
        {"samples": as_float(N), "risk": as_float(risk), "largest alpha": as_float(largest_alpha)},
        all_met(demands),
        (*in_words(demands), "The width must be at least a polynomial in d, 2^k and 1/α."),
        Citation(PAPER, "Corollary 7.1"),
        log10(N),
        {
            "c_N": hidden_constant(c_N, "in N"),
            "c_risk": hidden_constant(c_risk, "in the risk c_risk·α⁴·2^(c_k·k)"),
            "c_alpha": hidden_constant(c_alpha, "in the range of α"),
            "c_k": hidden_constant(c_k, "in 2^O(k) = 2^(c_k·k)"),
        },
    )


def theorem_2(d: int, d1: int, k: int, N: int, alpha: float) -> Quantity:
    """Risk that every kernel method with N samples exceeds on 99% of the class (7.1), version 3."""
    return _hard_class("resnet-theorem-2", "Theorem 2", "N", d, d1, k, N, alpha)


def theorem_3(d: int, d1: int, k: int, D: int, alpha: float) -> Quantity:
    """Risk that linear regression over any D features exceeds on 99% of the class (7.1)."""
    return _hard_class("resnet-theorem-3", "Theorem 3", "D", d, d1, k, D, alpha)


def theorem_2_conference(
    d: int, k: int, N: int, alpha: float, *, c_N: float = 1.0, c_alpha: float = 1.0
) -> Quantity:
    """The conference version: correlation kernels, x uniform on the cube, with probability 0.99."""
    largest_N = c_N * mpf(d) ** (mpf(k) / 2) / context.log(d) ** k
    least_alpha, risk = c_alpha * mpf(d) ** (-mpf(k) / 4), mpf(alpha) ** 2 / 4
    demands = (
        Demand("k", k, "≥", 4),
        Demand("k", k, "≤", d, "d"),
        Demand("N", N, "≤", largest_N, "c_N·d^(k/2)/(ln d)^k"),
        Demand("α", alpha, "≥", least_alpha, "c_α·d^(−k/4)"),
    )
    return Quantity(
        "resnet-theorem-2-conference",
        as_float(risk),
        "E‖H(x) − K(x)‖² > α²/4",
        f"E‖H(x) − K(x)‖² > {alpha:g}²/4 = {four_digits(risk)}",
        {"risk": as_float(risk), "largest N": as_float(largest_N), "least alpha": as_float(least_alpha)},
        all_met(demands),
        (*in_words(demands), "It holds for d beyond a bound that the paper does not give."),
        Citation(PAPER, "Theorem 2 of the conference version"),
        log10(risk),
        {
            "c_N": hidden_constant(c_N, "in the largest N"),
            "c_alpha": hidden_constant(c_alpha, "in the least α"),
        },
    )


def fact_a3(k: int, p_F: int, C_F: float, p_G: int, C_G: float) -> Quantity:
    """Bound on ‖G(F(x))‖ for ‖x‖ = 1, with the bounds B_F on ‖F(x)‖ and L_G on G's Lipschitz constant."""
    B_F, L_G = context.sqrt(k) * p_F * mpf(C_F), context.sqrt(k) * p_G * mpf(C_G)
    return Quantity(
        "resnet-fact-a.3",
        as_float(B_F * L_G),
        "B_F∘G ≤ k·p_F·C_F·p_G·C_G, with B_F ≤ √k·p_F·C_F and L_G ≤ √k·p_G·C_G",
        f"B_F∘G ≤ {k}·{p_F}·{C_F:g}·{p_G}·{C_G:g} = {four_digits(B_F * L_G)}",
        {"B_F": as_float(B_F), "L_G": as_float(L_G), "B_FG": as_float(B_F * L_G)},
        None,
        (),
        Citation(PAPER, "Section 5 and Fact A.3"),
        log10(B_F * L_G),
    )


def _hard_class(
    name: str, place: str, symbol: str, d: int, d1: int, k: int, number: int, alpha: float
) -> Quantity:
    num_functions = math.comb(d1, k)
    demands = (
        *_ordered(k, d1, d),
        Demand(symbol, number, "≤", mpf(num_functions) / NUM_FUNCTIONS_PER_SAMPLE, "C(d1,k)/1000"),
    )
    risk = mpf(alpha) ** 2 / 16
    learner = "K" if symbol == "N" else "F"
    return Quantity(
        name,
        as_float(risk),
        f"E‖H(x) − {learner}(x)‖² > α²/16",
        f"E‖H(x) − {learner}(x)‖² > {alpha:g}²/16 = {four_digits(risk)}",
        {
            "risk": as_float(risk),
            "functions in the class": as_float(mpf(num_functions)),
            f"largest {symbol}": as_float(mpf(num_functions // NUM_FUNCTIONS_PER_SAMPLE)),
            "share of the class": 0.99,
        },
        all_met(demands),
        in_words(demands),
        Citation(PAPER, place),
        log10(risk),
    )


def _ordered(k: int, d1: int, d: int) -> tuple[Demand, ...]:
    return Demand("k", k, "≤", d1, "d1"), Demand("d1", d1, "≤", d, "d")


LARGEST_SIZE = 10**6
_SIZES = {
    "d": Argument("number of coordinates of x", int, 2, LARGEST_SIZE),
    "d1": Argument("number of coordinates that may carry the signal", int, 2, LARGEST_SIZE),
    "k": Argument("number of outputs", int, 2, LARGEST_SIZE),
}
_ALPHA = Argument("weight α of G(F)", float, 0.0, 1.0, strict=True)
COMPLEXITIES = {
    "k": Argument("number of outputs", int, 1),
    "p_F": Argument("number of terms of each output of F", int, 1),
    "C_F": Argument("complexity C_s(F), as c-s gives it", float, 0.0, strict=True),
    "p_G": Argument("number of terms of each output of G", int, 1),
    "C_G": Argument("complexity C_s(G), as c-s gives it", float, 0.0, strict=True),
}
QUANTITIES = (
    Entry(
        "resnet-theorem-1",
        theorem_1,
        {
            **COMPLEXITIES,
            "alpha": Argument("weight α of G(F)", float, 0.0, strict=True),
            "delta": Argument("risk δ to be reached", float, 0.0, strict=True),
            "OPT": Argument("risk of the target itself, E ½‖H(x) − y‖²", float, 0.0, default=0.0),
            "B_F": Argument("bound on ‖F(x)‖", float, 0.0, default=1.0),
            **{name: hidden_argument(name) for name in ("c_alpha", "c_delta", "c_T", "c_w", "c_v")},
        },
        "Samples, steps and rates with which SGD on a three-layer ResNet reaches risk δ",
    ),
    Entry(
        "resnet-corollary-7.1",
        corollary_7_1,
        {
            **_SIZES,
            "alpha": _ALPHA,
            **{name: hidden_argument(name) for name in ("c_N", "c_risk", "c_alpha", "c_k")},
        },
        "Samples from which a ResNet learns the class (7.1)",
    ),
    Entry(
        "resnet-theorem-2",
        theorem_2,
        {**_SIZES, "N": Argument("number of samples", int, 1), "alpha": _ALPHA},
        "Risk that no kernel method gets below on the class (7.1)",
    ),
    Entry(
        "resnet-theorem-2-conference",
        theorem_2_conference,
        {
            "d": _SIZES["d"],
            "k": _SIZES["k"],
            "N": Argument("number of samples", int, 1),
            "alpha": _ALPHA,
            **{name: hidden_argument(name) for name in ("c_N", "c_alpha")},
        },
        "The same for correlation kernels, as the conference version has it",
    ),
    Entry(
        "resnet-theorem-3",
        theorem_3,
        {**_SIZES, "D": Argument("number of features", int, 1), "alpha": _ALPHA},
        "Risk that no linear regression over D features gets below on the class (7.1)",
    ),
    Entry("resnet-fact-a.3", fact_a3, COMPLEXITIES, "Bounds B_F, L_G and B_F∘G on F and G"),
)
