"""What `resnet-beyond-kernels` takes from probability theory: Propositions B.1 and B.4, and Lemma B.3.

Proposition B.4 says that no g′ with ‖g′‖ ≤ δ changes more than O(mδ^{2/3}) signs of g ~ N(0, I/m). A change
of sign costs |g_j|² of δ², so the smallest are changed first: with many neurons, those with √m|g_j| ≤ q,
where E[z²; |z| ≤ q] = δ² for z ~ N(0, 1). In regularised incomplete gamma functions P(s, x) this is
P(3/2, q²/2) = δ², and the share of signs is P(½, q²/2). The density of |z| is at most 2ϕ(0) = √(2/π), so that
a share s of values costs at least s³/(3·2/π): the share is at most (6/π)^{1/3} δ^{2/3}, and nearly that for
small δ.
"""

import math

import torch
from scipy.special import chdtrc, gammainc, gammaincinv

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.numbers import context, mpf
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.stated import Found, entries
from widenet.theory.work import require_work

SIGN_CONSTANT = (6 / math.pi) ** (1 / 3)  # what the O of Proposition B.4 hides, for many neurons
SEED = Argument("seed of what is drawn", low=0, high=2**63 - 1)


def sign_change_share(delta: float) -> float:
    """The largest share of signs of g ~ N(0, I/m) that a g′ of norm δ can change, for many neurons m.

    >>> round(sign_change_share(0.001) / 0.001 ** (2 / 3), 4)
    1.2407
    """
    if delta >= 1:
        return 1.0
    return float(gammainc(0.5, gammaincinv(1.5, delta**2)))


@RESNET.states(
    "Proposition B.1",
    "How long a Gaussian vector is, at most, with probability 1 − e^(−t)",
    m=Argument("number of dimensions", low=1.0, high=1e15),
    t=Argument("minus the logarithm of the failure probability", low=1.0, high=1e15),
)
def proposition_b1(m: float, t: float) -> Found:
    """Bound m + 2√(mt) + 2t on ‖g‖² for g ~ N(0, I) in m dimensions, and how often it is exceeded."""
    bound = mpf(m) + 2 * context.sqrt(mpf(m) * t) + 2 * mpf(t)
    exact = float(chdtrc(m, float(bound)))
    stated = context.exp(-mpf(t))
    return Found(
        bound,
        "‖g‖² < m + 2√(mt) + 2t with probability at least 1 − e^(−t)",
        f"{mpf_text(m)} + 2√({mpf_text(m)}·{mpf_text(t)}) + 2·{mpf_text(t)} = {mpf_text(bound)}",
        {"failure probability at most": stated, "failure probability, exactly": exact},
        (Demand("exact failure probability", exact, "≤", stated, "e^(−t)"),),
    )


@RESNET.states(
    "Lemma B.3",
    "How far a sum of Gaussian products over active neurons is from its mean",
    m=Argument("number of neurons", low=1, high=10**7),
    B=Argument("deviation B", low=1.0, high=1e6),
    L=Argument("bound L on |h|", low=0.0, high=1e100),
    num_draws=Argument("number of sums to draw", low=1, high=10**6),
    seed=SEED,
)
def lemma_b3(m: int, B: float, L: float = 1.0, num_draws: int = 1000, seed: int = 0) -> Found:
    """BL(√m + B), which both sums of the lemma exceed with probability at most 4e^(−B²/8), and how often.

    What is drawn has h(α) = L sign(α) and n = α, so that 1[n ≥ 0]h(α) is L or 0, as large as it may be.
    """
    require_work(20.0 * m * num_draws, "m or num_draws")
    bound = mpf(B) * L * (context.sqrt(m) + B)
    failure = min(mpf(1), 4 * context.exp(-(mpf(B) ** 2) / 8))
    generator = torch.Generator().manual_seed(seed)
    crossed, squares = 0, 0
    for _ in range(num_draws):
        n, a1, a2 = torch.randn(3, m, generator=generator, dtype=torch.float64)
        crossed += abs(float(a1 @ (a2 * (n >= 0)))) >= B * (math.sqrt(m) + B)
        squares += abs(float(a1.square() @ (n >= 0).double()) - m / 2) >= B * (math.sqrt(m) + B)
    return Found(
        bound,
        "|Σ a₁a₂1[n≥0]h(α)| and |Σ a₁²1[n≥0]h(α) − mE| < BL(√m + B) with probability at least 1 − 4e^(−B²/8)",
        f"{mpf_text(B)}·{mpf_text(L)}·(√{m} + {mpf_text(B)}) = {mpf_text(bound)}",
        {
            "failure probability at most": failure,
            "share of draws, products": crossed / num_draws,
            "share of draws, squares": squares / num_draws,
        },
        notes=() if failure < 1 else ("The bound is vacuous: 4e^(−B²/8) is at least 1 up to B = 3.33.",),
        holds=bool(failure < 1),
    )


@RESNET.states(
    "Proposition B.4",
    "The most signs of a Gaussian vector that a step of norm δ changes",
    m=Argument("number of neurons m", low=1.0, high=1e300),
    delta=Argument("norm δ of the step, for g ~ N(0, I/m)", low=0.0, high=1.0, strict=True),
)
def proposition_b4(m: float, delta: float) -> Found:
    """Number of signs that some step of norm δ changes, as m grows: at most (6/π)^{1/3} mδ^{2/3}."""
    share = sign_change_share(delta)
    order = mpf(m) * mpf(delta) ** (mpf(2) / 3)
    return Found(
        mpf(m) * share,
        "‖D′‖₀ ≤ O(mδ^(2/3));  for large m the most is m·P(½, x) with P(3/2, x) = δ²",
        f"{mpf_text(m)} · {share:.6g}",
        {"share of the signs": share, "mδ^(2/3)": order, "what O hides, for large m": mpf(m) * share / order},
        notes=(
            f"The share is at most (6/π)^(1/3)·δ^(2/3) = {SIGN_CONSTANT:.4f}·δ^(2/3), and nearly that for "
            "small δ; the paper hides the constant, and that of the probability 1 − e^(−Ω(mδ^(2/3))).",
        ),
    )


QUANTITIES = entries(proposition_b1, lemma_b3, proposition_b4)
