"""Theorems of `mild-memorisation` on three layers: a random layer z = (Rx)^p, and two layers trained on z.

The paper states orders of magnitude; here its proof is followed with numbers: the lemmas of `random_layer`
give the smallest singular value σ_z and the largest ‖z‖, and Theorem 4 the steps.
"""

import math

from widenet.theory.demand import Demand, all_met, in_words, mpf_text
from widenet.theory.entry import DELTA, Argument, Entry
from widenet.theory.mild_memorisation.descent import C_ARGUMENT, C_PGD, EPSILON, theorem4
from widenet.theory.mild_memorisation.landscape import DIMENSION, NUM_SAMPLES, PAPER
from widenet.theory.mild_memorisation.random_layer import (
    HIDDEN_C,
    POWER,
    SIZES,
    TENSOR_SIGMA,
    VARIANCE,
    lemma13,
    lemma14,
    lemma19,
    lemma20,
    proven_sigma,
    smoothed_width,
)
from widenet.theory.quantity import Citation, Constant, Quantity, hidden_constant
from widenet.theory.smooth.complexity import as_float
from widenet.theory.smooth.series import Number, mpf

NUM_SHARES = 3  # of δ: for σ_z, for ‖z‖ and for the descent, any of which may fail


def theorem2(n: int, d: int, p: int) -> Quantity:
    """Neurons with which three layers memorise any n ≤ d^p labels, O_p(√n) in each layer (informal)."""
    k = smoothed_width(n)
    r = 2 * k + 2
    demands = (Demand("number of samples n", n, "≤", mpf(d) ** p, "d^p"),)
    return Quantity(
        name="memorisation-theorem-2",
        value=r,
        formula="r = 2k + 2,  k = 2⌈√n⌉",
        filled=f"2 · {k} + 2,  k = 2⌈√{n}⌉",
        terms={"random neurons k": k, "trained parameters": k * r},
        applies=all_met(demands),
        why=(*in_words(demands), "Theorem 5 says when: inputs that Gaussian noise was added to."),
        source=Citation(PAPER, "Theorem 2"),
    )


def theorem5(
    n: int, d: int, p: int, v: float, epsilon: float, delta: float, C: float = 1.0, c: float = C_PGD
) -> Quantity:
    """Steps for three layers on inputs with noise of variance v; the paper: (n/v)^{O(p)} ε^{−5/2} log⁴(n/ε).

    Lemma 13 as its proof has it, at (δ/3)/(Cp), gives σ_z, Lemma 14 gives ‖z‖, and Theorem 4 at z in place of
    x the steps; the paper's statement has ‖x‖ ≤ 1 and |y| ≤ 1.
    """
    k, share = smoothed_width(n), mpf(delta) / NUM_SHARES
    smoothing = (n, d, k, p, v, share / (C * p))
    norm = lemma14(n, d, k, p, 1.0, v, share)
    constant = hidden_constant(C, "in the failure probability O(pδ) of Lemma 13")
    return _on_random_layer(
        5, n, k, lemma13(*smoothing), proven_sigma(*smoothing), norm, epsilon, share, c, constant
    )


def theorem6(
    n: int,
    d: int,
    k: int,
    p: int,
    sigma: float,
    epsilon: float,
    delta: float,
    B: float = 1.0,
    C: float = 1.0,
    c: float = C_PGD,
) -> Quantity:
    """Steps for three layers without noise, where σ, the smallest singular value of [x^{⊗2p}], is not 0.

    Lemma 19 gives σ_z, Lemma 20 gives ‖z‖, and Theorem 4 at z in place of x the steps, for |y| ≤ 1.
    """
    share = mpf(delta) / NUM_SHARES
    layer, norm = lemma19(d, k, p, sigma, share, C), lemma20(d, k, p, B, share)
    constant = hidden_constant(C, "in Ω of Lemma 19, an absolute constant")
    sigma_z = mpf(10) ** layer.log10
    return _on_random_layer(6, n, k, layer, sigma_z, norm, epsilon, share, c, constant)


def _on_random_layer(
    number: int,
    n: int,
    k: int,
    layer: Quantity,
    sigma_z: Number,
    norm: Quantity,
    epsilon: float,
    delta: float,
    c: float,
    constant: Constant,
) -> Quantity:
    """Theorem 4 at z, σ_z being the lemma's on the `layer`; δ is one lemma's share."""
    B = mpf(10) ** norm.log10
    if sigma_z > 0:
        steps = theorem4(n, k, 2 * k + 2, B, 1.0, sigma_z, 0.25, epsilon, delta, c)
        value, log10_value, terms, why = steps.value, steps.log10, steps.terms, steps.why
        applies = bool(layer.applies and steps.applies)
    else:
        value, log10_value, terms, why = (
            math.inf,
            None,
            {},
            ("Without a bound on σ_z there is none on the steps.",),
        )
        applies = False
    return Quantity(
        name=f"memorisation-theorem-{number}",
        value=value,
        log10=log10_value,
        formula="Theorem 4's steps at B = ‖z‖, σ = σ_z, d = k, r = 2k + 2",
        filled=f"at ‖z‖ = {mpf_text(B)}, σ_z = {mpf_text(sigma_z)}, d = {k}, r = {2 * k + 2}",
        terms={"k": k, "r": 2 * k + 2, "σ_z": as_float(sigma_z), "‖z‖": norm.value, **terms},
        applies=applies,
        why=(
            *layer.why,
            *norm.why,
            *why,
            f"δ is shared: {mpf_text(delta)} each for {layer.source.place}, {norm.source.place} "
            "and Theorem 4.",
        ),
        constants={
            "C": constant,
            "c": Constant(c, True, "of Algorithm 1; c ≤ c_max, an absolute constant without a value"),
        },
        source=Citation(PAPER, f"Theorem {number}"),
    )


QUANTITIES = (
    Entry(
        "memorisation-theorem-2",
        theorem2,
        {"n": NUM_SAMPLES, "d": DIMENSION, "p": POWER},
        "Neurons with which three layers memorise",
    ),
    Entry(
        "memorisation-theorem-5",
        theorem5,
        {
            "n": NUM_SAMPLES,
            "d": DIMENSION,
            "p": POWER,
            "v": VARIANCE,
            "epsilon": EPSILON,
            "delta": DELTA,
            "C": HIDDEN_C,
            "c": C_ARGUMENT,
        },
        "Steps in which three layers memorise inputs with a little noise",
    ),
    Entry(
        "memorisation-theorem-6",
        theorem6,
        {
            **SIZES,
            "sigma": TENSOR_SIGMA,
            "epsilon": EPSILON,
            "delta": DELTA,
            "B": Argument("largest norm of an input", float, 0.0, default=1.0, strict=True),
            "C": HIDDEN_C,
            "c": C_ARGUMENT,
        },
        "Steps in which three layers memorise inputs as they are",
    ),
)
