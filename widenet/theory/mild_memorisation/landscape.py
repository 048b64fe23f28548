"""Lemmas of `mild-memorisation` on the loss of two layers: why it has no bad minima, and how smooth it is.

Setting and notation are those of `mild_memorisation`; M = Σ_j δ_j x_j x_jᵀ / n with δ = ŷ − y.
"""

from widenet.theory.demand import Demand, all_met, in_words, mpf_text
from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Citation, Quantity
from widenet.theory.smooth.complexity import as_float, log10
from widenet.theory.smooth.series import context, mpf

PAPER = "mild-memorisation"


def landscape_demands(n: int, d: int, r: int | None, sigma: float | None) -> tuple[Demand, ...]:
    """What Lemma 1 and Theorem 4 ask of the data and of the width."""
    return (
        Demand("number of samples n", n, "≤", d * (d + 1) // 2, "d(d+1)/2"),
        Demand("number of neurons r", r, "≥", 2 * d + 2, "2d + 2"),
        Demand("smallest singular value σ", sigma, ">", 0.0),
    )


def lemma1(n: int, d: int, r: int, sigma: float, epsilon: float) -> Quantity:
    """Loss where the Hessian is nearly positive: λ_min(∇²f) ≥ −ε implies f ≤ ndε²/(4σ²)."""
    demands = landscape_demands(n, d, r, sigma)
    return Quantity(
        name="memorisation-lemma-1",
        value=_loss_bound(n, d, sigma, epsilon),
        formula="f ≤ n d ε² / (4 σ²)",
        filled=f"{n} · {d} · {mpf_text(epsilon)}² / (4 · {mpf_text(sigma)}²)",
        terms={"n d": n * d, "(ε/σ)²": as_float((mpf(epsilon) / sigma) ** 2)},
        applies=all_met(demands),
        why=in_words(demands),
        log10=log10(n * d * mpf(epsilon) ** 2 / (4 * mpf(sigma) ** 2)),
        source=Citation(PAPER, "Lemma 1"),
    )


def _loss_bound(n: int, d: int, sigma: float, curvature: float) -> float:
    return as_float(n * d * mpf(curvature) ** 2 / (4 * mpf(sigma) ** 2))


def lemma3(largest: float, d: int, r: int) -> Quantity:
    """Smallest eigenvalue of the Hessian of f: −max|λ_i(M)|, whatever W is."""
    demands = (Demand("number of neurons r", r, "≥", 2 * d + 2, "2d + 2"),)
    return Quantity(
        name="memorisation-lemma-3",
        value=-largest,
        formula="λ_min(∇²f(W)) = −max_i |λ_i(M)|",
        filled=f"−{mpf_text(largest)}",
        terms={"‖M‖": largest},
        applies=all_met(demands),
        why=in_words(demands),
        source=Citation(PAPER, "Lemma 3"),
    )


def lemma4(n: int, d: int, sigma: float, largest: float) -> Quantity:
    """Loss by the spectral norm of M: f ≤ nd‖M‖²/(4σ²)."""
    demands = (Demand("smallest singular value σ", sigma, ">", 0.0),)
    return Quantity(
        name="memorisation-lemma-4",
        value=_loss_bound(n, d, sigma, largest),
        formula="f ≤ n d ‖M‖² / (4 σ²)",
        filled=f"{n} · {d} · {mpf_text(largest)}² / (4 · {mpf_text(sigma)}²)",
        terms={"n d": n * d, "(‖M‖/σ)²": as_float((mpf(largest) / sigma) ** 2)},
        applies=all_met(demands),
        why=in_words(demands),
        log10=log10(n * d * mpf(largest) ** 2 / (4 * mpf(sigma) ** 2)),
        source=Citation(PAPER, "Lemma 4"),
    )


def lemma5(B: float, Y: float, gamma: float, ball: float) -> Quantity:
    """Smoothness of g where ‖W‖_F² ≤ Γ, and the Lipschitz constant of its Hessian there."""
    smoothness = 3 * mpf(B) ** 4 * ball + Y * mpf(B) ** 2 + gamma
    return Quantity(
        name="memorisation-lemma-5",
        value=as_float(smoothness),
        log10=log10(smoothness),
        formula="ℓ = 3B⁴Γ + YB² + γ,  ρ = 6B⁴√Γ",
        filled=f"3 · {mpf_text(B)}⁴ · {mpf_text(ball)} + {mpf_text(Y)} · {mpf_text(B)}² + {mpf_text(gamma)}",
        terms={
            "3B⁴Γ": as_float(3 * mpf(B) ** 4 * ball),
            "YB²": as_float(Y * mpf(B) ** 2),
            "γ": gamma,
            "ρ": as_float(6 * mpf(B) ** 4 * context.sqrt(ball)),
        },
        applies=None,
        why=("It holds wherever ‖W‖_F² ≤ Γ, ‖x_j‖ ≤ B and |y_j| ≤ Y.",),
        source=Citation(PAPER, "Lemma 5"),
    )


NUM_SAMPLES = Argument("number of samples", int, 1)
DIMENSION = Argument("dimension of the inputs", int, 1)
NUM_NEURONS = Argument("number of neurons", int, 1)
SIGMA = Argument("smallest singular value of [x^{⊗2}]", float, 0.0, strict=True)
LARGEST_INPUT = Argument("largest norm of an input", float, 0.0, strict=True)
LARGEST_LABEL = Argument("largest absolute label", float, 0.0)
_LARGEST = Argument("spectral norm of M", float, 0.0)

QUANTITIES = (
    Entry(
        "memorisation-lemma-1",
        lemma1,
        {
            "n": NUM_SAMPLES,
            "d": DIMENSION,
            "r": NUM_NEURONS,
            "sigma": SIGMA,
            "epsilon": Argument("−λ_min(∇²f) at most", float, 0.0),
        },
        "Loss at a nearly positive Hessian",
    ),
    Entry(
        "memorisation-lemma-3",
        lemma3,
        {"largest": _LARGEST, "d": DIMENSION, "r": NUM_NEURONS},
        "Smallest eigenvalue of the Hessian",
    ),
    Entry(
        "memorisation-lemma-4",
        lemma4,
        {"n": NUM_SAMPLES, "d": DIMENSION, "sigma": SIGMA, "largest": _LARGEST},
        "Loss by the spectral norm of M",
    ),
    Entry(
        "memorisation-lemma-5",
        lemma5,
        {
            "B": LARGEST_INPUT,
            "Y": LARGEST_LABEL,
            "gamma": Argument("weight of the regulariser", float, 0.0),
            "ball": Argument("bound Γ on ‖W‖²", float, 0.0, strict=True),
        },
        "Smoothness and Hessian Lipschitz constant of g",
    ),
)
