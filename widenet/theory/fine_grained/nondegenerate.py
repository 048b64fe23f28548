"""Definition 5.1 of `fine-grained` on data: is λ_min(H∞) ≥ λ₀ with probability at least 1 − δ?

A distribution is (λ₀, δ, n)-non-degenerate if n independent draws have λ_min(H∞) ≥ λ₀ > 0 with probability at
least 1 − δ. No finite number of samples proves that; T independent ones bound δ with a stated confidence: if
F of them fail, then δ is at most the Clopper–Pearson limit, the δ at which F or fewer failures have
probability 1 − confidence.
"""

import torch
from scipy.special import betaincinv

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.fine_grained.rows import (
    DATA,
    ROWS,
    SEED,
    h_infinity,
    independent_samples,
    proves_floor,
)
from widenet.theory.fine_grained.symbols import FINE_GRAINED
from widenet.theory.numbers import Number, context, mpf
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work


def clopper_pearson(num_failures: int, num_trials: int, confidence: float) -> tuple[float, float]:
    """Limits of a probability, each with this confidence, from failures in independent trials.

    >>> low, high = clopper_pearson(0, 59, 0.95)
    >>> low, round(high, 3)
    (0.0, 0.05)
    """
    F, T = num_failures, num_trials
    low = float(betaincinv(F, T - F + 1, 1 - confidence)) if F > 0 else 0.0
    return low, float(betaincinv(F + 1, T - F, confidence)) if F < T else 1.0


def fewest_trials(delta: float, confidence: float) -> Number:
    """Trials without a failure from which a probability is at most δ with this confidence."""
    return max(mpf(1), context.ceil(context.log1p(-mpf(confidence)) / context.log1p(-mpf(delta))))


@FINE_GRAINED.states(
    "Definition 5.1",
    "Is a distribution (λ₀, δ, n)-non-degenerate? The least δ that samples of it allow",
    data=DATA,
    n=ROWS,
    num_samples=Argument("number of samples of n rows, at most", low=1, high=10**5),
    confidence=Argument("confidence", low=0.5, high=1.0, strict=True),
    seed=SEED,
)
def definition_5_1(
    data: str,
    n: int,
    floor: float,
    delta: float = 0.05,
    num_samples: int = 60,
    confidence: float = 0.95,
    seed: int = 0,
) -> Found:
    """Upper limit of the probability that λ_min(H∞) of n rows is below λ₀, from independent samples."""
    require_work(20.0 * num_samples * n**3, "n or num_samples")
    generator = torch.Generator().manual_seed(seed)
    proven, computed = [], []
    for X in independent_samples(data, n, num_samples, generator=generator):
        H = h_infinity(X)
        computed.append(max(0.0, float(torch.linalg.eigvalsh(H)[0])))
        proven.append(proves_floor(X, H, floor))
    T = len(proven)
    failed = sum(not sure and value < floor for sure, value in zip(proven, computed, strict=True))
    open_ = T - sum(proven) - failed
    low, _ = clopper_pearson(failed, T, confidence)
    _, high = clopper_pearson(failed + open_, T, confidence)
    return Found(
        high,
        formula="δ ≤ Clopper–Pearson limit of F failures among T samples;  a failure: λ_min(H∞) < λ₀",
        filled=f"δ ≤ {mpf_text(high)} with confidence {confidence:g}, from F = {failed + open_} of T = {T}",
        terms={
            "samples": T,
            "with λ_min ≥ λ₀ proven": sum(proven),
            "with λ_min < λ₀ as computed": failed,
            "undecided, counted as failures": open_,
            "δ at least": low,
            "smallest λ_min": min(computed),
            "median λ_min": sorted(computed)[T // 2],
            "largest λ_min": max(computed),
            "samples without a failure that δ needs": fewest_trials(delta, confidence),
        },
        demands=(Demand("upper limit of δ", high, "≤", delta, "δ"),),
        notes=(
            f"With confidence {confidence:g} the distribution is (λ₀, {mpf_text(high)}, {n})-non-degenerate; "
            "each limit has this confidence on its own, over the samples.",
            "Samples of a file do not share rows, so they are independent if its rows are; rows that repeat "
            "make λ_min 0.",
        ),
    )


QUANTITIES = entries(definition_5_1)
