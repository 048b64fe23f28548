"""Theorems of `mild-memorisation` on three layers: a random layer z = (Rx)^p, and two layers trained on z.

The paper states orders of magnitude; here its proof is followed with numbers: the lemmas of `random_layer`
give the smallest singular value σ_z and the largest ‖z‖, and Theorem 4 the steps.
"""

import math

from widenet.theory.demand import Demand, all_met, in_words, mpf_text
from widenet.theory.mild_memorisation.descent import C_PGD, theorem4
from widenet.theory.mild_memorisation.random_layer import (
    lemma13,
    lemma14,
    lemma19,
    lemma20,
    proven_sigma,
    smoothed_width,
)
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION, TENSOR_SIGMA
from widenet.theory.numbers import Number, mpf
from widenet.theory.quantity import Quantity
from widenet.theory.stated import Found, entries

NUM_SHARES = 3  # of δ: for σ_z, for ‖z‖ and for the descent, any of which may fail


@MILD_MEMORISATION.states("Theorem 2", "Neurons with which three layers memorise")
def theorem2(n: int, d: int, p: int) -> Found:
    """Neurons with which three layers memorise any n ≤ d^p labels, O_p(√n) in each layer (informal)."""
    k = smoothed_width(n)
    r = 2 * k + 2
    demands = (Demand("number of samples n", n, "≤", mpf(d) ** p, "d^p"),)
    return Found(
        r,
        formula="r = 2k + 2,  k = 2⌈√n⌉",
        filled=f"2 · {k} + 2,  k = 2⌈√{n}⌉",
        terms={"random neurons k": k, "trained parameters": k * r},
        demands=demands,
        notes=("Theorem 5 says when: inputs with Gaussian noise added.",),
    )


@MILD_MEMORISATION.states(
    "Theorem 5",
    "Steps in which three layers memorise inputs with a little noise",
    C="in the failure probability O(pδ) of Lemma 13",
)
def theorem5(
    n: int, d: int, p: int, v: float, epsilon: float, delta: float, C: float = 1.0, c: float = C_PGD
) -> Found:
    """Steps for three layers on inputs with noise of variance v; the paper: (n/v)^{O(p)} ε^{−5/2} log⁴(n/ε).

    Lemma 13 as its proof has it, at (δ/3)/(Cp), gives σ_z, Lemma 14 gives ‖z‖, and Theorem 4 at z in place of
    x the steps; the paper's statement has ‖x‖ ≤ 1 and |y| ≤ 1.
    """
    k, share = smoothed_width(n), mpf(delta) / NUM_SHARES
    smoothing = (n, d, k, p, v, share / (C * p))
    norm = lemma14(n, d, k, p, 1.0, v, share)
    layer, sigma_z = lemma13(*smoothing), proven_sigma(*smoothing)
    return _on_random_layer(n, k, layer, sigma_z, norm, epsilon, share, c)


@MILD_MEMORISATION.states(
    "Theorem 6",
    "Steps in which three layers memorise inputs as they are",
    sigma=TENSOR_SIGMA,
    C="in Ω of Lemma 19, an absolute constant",
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
) -> Found:
    """Steps for three layers without noise, where σ, the smallest singular value of [x^{⊗2p}], is not 0.

    Lemma 19 gives σ_z, Lemma 20 gives ‖z‖, and Theorem 4 at z in place of x the steps, for |y| ≤ 1.
    """
    share = mpf(delta) / NUM_SHARES
    layer, norm = lemma19(d, k, p, sigma, share, C), lemma20(d, k, p, B, share)
    return _on_random_layer(n, k, layer, mpf(10) ** layer.log10, norm, epsilon, share, c)


def _on_random_layer(
    n: int, k: int, layer: Quantity, sigma_z: Number, norm: Quantity, epsilon: float, delta: float, c: float
) -> Found:
    """Theorem 4 at z, σ_z being the lemma's on the `layer`; δ is one lemma's share."""
    B = mpf(10) ** norm.log10
    steps = Found(
        math.inf, "", "", notes=("Without a bound on σ_z there is none on the steps.",), holds=False
    )
    if sigma_z > 0:
        steps = theorem4.function(n, k, 2 * k + 2, B, 1.0, sigma_z, 0.25, epsilon, delta, c)
    shared = (
        f"δ is shared: {mpf_text(delta)} each for {layer.source.place}, {norm.source.place} and Theorem 4."
    )
    return Found(
        steps.value,
        formula="Theorem 4's steps at B = ‖z‖, σ = σ_z, d = k, r = 2k + 2",
        filled=f"at ‖z‖ = {mpf_text(B)}, σ_z = {mpf_text(sigma_z)}, d = {k}, r = {2 * k + 2}",
        terms={"k": k, "r": 2 * k + 2, "σ_z": sigma_z, "‖z‖": norm.value, **steps.terms},
        notes=(*layer.why, *norm.why, *in_words(steps.demands), *steps.notes, shared),
        holds=bool(layer.applies and steps.holds is not False and all_met(steps.demands)),
    )


QUANTITIES = entries(theorem2, theorem5, theorem6)
