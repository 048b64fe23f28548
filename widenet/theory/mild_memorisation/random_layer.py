"""Lemmas of `mild-memorisation` on the random layer z = (Rx)^p, R ~ N(0, I), that is put before two layers.

With Q = [r_1^{⊗p} … r_k^{⊗p}]ᵀ it is z = Q x^{⊗p}, so that [z_j^{⊗2}] = (Q⊗Q)[x_j^{⊗2p}]. Lemmas 13 and 19
bound its smallest singular value σ_z from below, Lemmas 14 and 20 bound ‖z‖ from above. D_d^p = C(d+p−1, p)
is the dimension of the symmetric tensors. What the paper hides in Ω is `C`, 1 by default.
"""

import math

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION, TENSOR_SIGMA
from widenet.theory.numbers import Number, as_float, context, mpf
from widenet.theory.stated import Found, entries

NET = 0.1  # σ of the net in the proof of Lemma 18
ABSOLUTE = "in Ω, an absolute constant"  # where C stands in Lemmas 18 and 19
MOST_NEURONS = "⌈D_d^{2p}/(D_d^p C(2p,p))⌉ − 1"


def symmetric_dimension(d: int, p: int) -> int:
    """D_d^p, of the symmetric tensors of order p on d dimensions."""
    return math.comb(d + p - 1, p)


def smoothed_width(n: int) -> int:
    """K = 2⌈√n⌉ neurons of the random layer [Theorem 5]."""
    return 2 * (math.isqrt(n - 1) + 1)


def largest_smoothed_width(d: int, p: int) -> int:
    """The largest k below D_d^{2p} / (D_d^p C(2p, p)) = O_p(d^p).

    Lemma 13 allows equality too, but its bound is 0 there.
    """
    return (symmetric_dimension(d, 2 * p) - 1) // (symmetric_dimension(d, p) * math.comb(2 * p, p))


@MILD_MEMORISATION.states(
    "Lemma 2", "Smallest singular value behind the random layer, with noise", C="in Ω_p, a constant of p"
)
def lemma2(n: int, d: int, k: int, p: int, v: float, delta: float, C: float = 1.0) -> Found:
    """Lower bound on σ_z for inputs with noise of variance v, up to a constant of p."""
    sigma = C * _smoothing(n, k, p, v, delta)
    demands = _smoothed_demands(n, d, k, p)
    return Found(
        sigma,
        formula="σ_z ≥ C v^p δ^{4p} / (n^{2p+1/2} k^{4p})",
        filled=f"{C:g} · {v:g}^{p} · {delta:g}^{4 * p} / ({n}^{2 * p + 0.5:g} · {k}^{4 * p})",
        terms={"v^p": mpf(v) ** p, "δ^{4p}": mpf(delta) ** (4 * p)},
        demands=demands,
    )


def _smoothing(n: int, k: int, p: int, v: float, delta: float) -> Number:
    return mpf(v) ** p * mpf(delta) ** (4 * p) / (mpf(n) ** (2 * p + mpf(0.5)) * mpf(k) ** (4 * p))


def _smoothed_demands(n: int, d: int, k: int, p: int) -> tuple[Demand, ...]:
    return (
        Demand("random neurons k", k, "≤", largest_smoothed_width(d, p), MOST_NEURONS),
        Demand("pairs of them k(k+1)/2", k * (k + 1) // 2, ">", n, "n"),
    )


@MILD_MEMORISATION.states("Lemma 13", "The same with its dependence on p")
def lemma13(n: int, d: int, k: int, p: int, v: float, delta: float) -> Found:
    """Lower bound on σ_z for inputs with noise of variance v, with its dependence on p.

    The printed (4) has k^{4p}. Its proof has a leave-one-out distance with (δ/C(k+1,2))^{2p}, which Lemma 8
    divides by √C(k+1,2), so that C(k+1,2)^{2p+1/2} stands in place of k^{4p}. That is about
    k^{4p+1}/2^{2p+1/2}: more for large k, less for small. The value is (4) as printed; `terms` has the
    proof's.
    """
    D, D2 = symmetric_dimension(d, p), symmetric_dimension(d, 2 * p)
    free_layer, free_pairs = D2 - k * D * math.comb(2 * p, p), k * (k + 1) // 2 - n
    room = mpf(max(0, free_layer)) * max(0, free_pairs) / mpf(math.factorial(4 * p)) ** 3
    smoothing = _smoothing(n, k, p, v, delta)
    sigma = context.sqrt(context.sqrt(room)) * smoothing
    demands = (
        Demand("random neurons k", k, "≥", 2 * context.sqrt(n), "2√n"),
        *_smoothed_demands(n, d, k, p),
    )
    return Found(
        sigma,
        formula="σ_z ≥ ([D_d^{2p} − k D_d^p C(2p,p)] [C(k+1,2) − n] / (4p)!³)^{1/4}"
        " v^p δ^{4p} / (n^{2p+1/2} k^{4p})",
        filled=f"({mpf_text(free_layer)} · {mpf_text(free_pairs)} / {4 * p}!³)^¼ · {mpf_text(smoothing)}",
        terms={
            "D_d^{2p} − k D_d^p C(2p,p)": mpf(free_layer),
            "C(k+1,2) − n": mpf(free_pairs),
            "v^p δ^{4p} / (n^{2p+1/2} k^{4p})": smoothing,
            "σ_z by the proof": sigma * _proof_share(k, p),
        },
        demands=demands,
        notes=(
            "Lemma 13 holds with probability 1 − O(pδ).",
            "It prints k^{4p} where its proof has C(k+1,2)^{2p+1/2}, about k^{4p+1}/2^{2p+1/2}, by Lemma 8; "
            "Theorem 5 takes the proof's.",
        ),
    )


def proven_sigma(n: int, d: int, k: int, p: int, v: float, delta: float) -> Number:
    """σ_z of Lemma 13 as its proof has it."""
    return mpf(10) ** lemma13(n, d, k, p, v, delta).log10 * _proof_share(k, p)


def _proof_share(k: int, p: int) -> Number:
    """k^{4p} over the C(k+1,2)^{2p+1/2} of the proof."""
    return mpf(k) ** (4 * p) / mpf(k * (k + 1) // 2) ** (2 * p + mpf(0.5))


@MILD_MEMORISATION.states("Lemma 14", "Largest norm behind the random layer, with noise")
def lemma14(n: int, d: int, k: int, p: int, B: float, v: float, delta: float) -> Found:
    """Upper bound on ‖z‖ of all n rows, for inputs of norm B with noise of variance v."""
    spread = _spread((k + n) * d, delta)
    inputs = B + 2 * context.sqrt(v * d) * spread
    bound = context.sqrt(k) * (2 * inputs * context.sqrt(d) * spread) ** p
    return _norm_quantity(
        14,
        bound,
        "‖z‖ ≤ √k (2 (B + 2√(vd) s) √d s)^p,  s = √ln((k+n) d δ^{−1/2})",
        f"√{k} · (2 · {mpf_text(inputs)} · √{d} · {mpf_text(spread)})^{p}",
        {"s": spread, "largest ‖x‖ with noise": inputs},
        (k + n) * d,
        delta,
    )


@MILD_MEMORISATION.states("Lemma 20", "Largest norm behind the random layer, without noise")
def lemma20(d: int, k: int, p: int, B: float, delta: float) -> Found:
    """Upper bound on ‖z‖ of all rows, for inputs of norm at most B without noise."""
    spread = _spread(k * d, delta)
    bound = context.sqrt(k) * (2 * B * context.sqrt(d) * spread) ** p
    return _norm_quantity(
        20,
        bound,
        "‖z‖ ≤ √k (2 B √d s)^p,  s = √ln(k d δ^{−1/2})",
        f"√{k} · (2 · {mpf_text(B)} · √{d} · {mpf_text(spread)})^{p}",
        {"s": spread},
        k * d,
        delta,
    )


def _spread(num_normals: int, delta: float) -> Number:
    """Half of what no one of so many normal numbers exceeds."""
    return context.sqrt(context.log(num_normals / context.sqrt(delta)))


def _norm_quantity(
    number: int,
    bound: Number,
    formula: str,
    filled: str,
    terms: dict[str, Number],
    num_normals: int,
    delta: float,
) -> Found:
    failure = delta / (context.sqrt(2 * context.pi) * _spread(num_normals, delta) * num_normals)
    return Found(
        bound,
        formula=formula,
        filled=filled,
        terms={**terms, "failure probability": failure},
        notes=(f"Lemma {number} fails with probability at most {mpf_text(failure)}, over R and the noise.",),
    )


@MILD_MEMORISATION.states("Lemma 18", "Smallest singular value of the random layer itself", C=ABSOLUTE)
def lemma18(d: int, k: int, p: int, delta: float, C: float = 1.0) -> Found:
    """Lower bound on ‖Qc‖ over all symmetric tensors c of norm 1."""
    bound, alpha = _layer_bound(d, k, p, delta), k / (p * symmetric_dimension(d, p))
    return _layer_quantity(
        18,
        C * bound,
        "‖Qc‖ ≥ C δ^{1/((α−1)D)} / ((p^p √p!)^{α/(α−1)} (k L^p)^{1/(2(α−1))})",
        {"α": alpha, "L": as_float(_log_net(d, p))},
        (d, k, p),
    )


@MILD_MEMORISATION.states(
    "Lemma 19",
    "Smallest singular value behind the random layer, without noise",
    C=ABSOLUTE,
    sigma=TENSOR_SIGMA,
)
def lemma19(d: int, k: int, p: int, sigma: float, delta: float, C: float = 1.0) -> Found:
    """Lower bound on σ_z without noise, by the smallest singular value σ of [x^{⊗2p}]."""
    bound, alpha = _layer_bound(d, k, p, delta), k / (p * symmetric_dimension(d, p))
    return _layer_quantity(
        19,
        C * bound**2 * sigma,
        "σ_z ≥ C σ δ^{2/((α−1)D)} / ((p^p √p!)^{2α/(α−1)} (k L^p)^{1/(α−1)})",
        {"α": alpha, "L": as_float(_log_net(d, p)), "σ": sigma, "σ_z/σ": C * bound**2},
        (d, k, p),
    )


def _log_net(d: int, p: int) -> Number:
    """Log of the size of a 1/10-net of the unit tensors, D ln(1 + 20√p!) by Lemma 7."""
    return symmetric_dimension(d, p) * context.log(1 + 2 / NET * context.sqrt(math.factorial(p)))


def _layer_bound(d: int, k: int, p: int, delta: float) -> Number:
    D = symmetric_dimension(d, p)
    excess = mpf(k) / (p * D) - 1  # α − 1
    if excess <= 0:
        return mpf(0)
    tensors = (mpf(p) ** p * context.sqrt(math.factorial(p))) ** ((1 + excess) / excess)
    return mpf(delta) ** (1 / (excess * D)) / (tensors * (k * _log_net(d, p) ** p) ** (1 / (2 * excess)))


def _layer_quantity(
    number: int, bound: Number, formula: str, terms: dict[str, Number], sizes: tuple[int, int, int]
) -> Found:
    d, k, p = sizes
    D = symmetric_dimension(d, p)
    demands = (Demand("random neurons k", k, ">", p * D, "p D_d^p"),)
    return Found(
        bound,
        formula=f"{formula},  D = D_d^p,  α = k/(pD),  L = D ln(1 + 20√p!)",
        filled=f"{mpf_text(bound)} at D = {D}, α = {mpf_text(terms['α'])}, L = {mpf_text(terms['L'])}",
        terms=terms,
        demands=demands,
        notes=(
            f"Lemma {number} holds with probability 1 − o(1)δ.",
            "L is the size of a net, which the paper bounds by G₀ p ln p D.",
        ),
    )


QUANTITIES = entries(lemma2, lemma13, lemma14, lemma18, lemma19, lemma20)
