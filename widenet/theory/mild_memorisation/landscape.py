"""Lemmas of `mild-memorisation` on the loss of two layers: why it has no bad minima, and how smooth it is.

Setting and notation are those of `mild_memorisation`; M = Σ_j δ_j x_j x_jᵀ / n with δ = ŷ − y.
"""

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION
from widenet.theory.numbers import context, mpf
from widenet.theory.stated import Found, entries


def landscape_demands(n: int, d: int, r: int | None, sigma: float | None) -> tuple[Demand, ...]:
    """What Lemma 1 and Theorem 4 ask of the data and of the width."""
    return (
        Demand("number of samples n", n, "≤", d * (d + 1) // 2, "d(d+1)/2"),
        Demand("number of neurons r", r, "≥", 2 * d + 2, "2d + 2"),
        Demand("smallest singular value σ", sigma, ">", 0.0),
    )


@MILD_MEMORISATION.states(
    "Lemma 1", "Loss at a nearly positive Hessian", epsilon=Argument("−λ_min(∇²f) at most", low=0.0)
)
def lemma1(n: int, d: int, r: int, sigma: float, epsilon: float) -> Found:
    """Loss where the Hessian is nearly positive: λ_min(∇²f) ≥ −ε implies f ≤ ndε²/(4σ²)."""
    return _loss_bound(n, d, sigma, epsilon, "ε", landscape_demands(n, d, r, sigma))


def _loss_bound(n: int, d: int, sigma: float, size: float, symbol: str, demands: tuple[Demand, ...]) -> Found:
    """What Lemmas 1 and 4 say of the loss, by a `size` that bounds the curvature."""
    return Found(
        n * d * mpf(size) ** 2 / (4 * mpf(sigma) ** 2),
        formula=f"f ≤ n d {symbol}² / (4 σ²)",
        filled=f"{n} · {d} · {mpf_text(size)}² / (4 · {mpf_text(sigma)}²)",
        terms={"n d": n * d, f"({symbol}/σ)²": (mpf(size) / sigma) ** 2},
        demands=demands,
    )


@MILD_MEMORISATION.states("Lemma 3", "Smallest eigenvalue of the Hessian")
def lemma3(largest: float, d: int, r: int) -> Found:
    """Smallest eigenvalue of the Hessian of f: −max|λ_i(M)|, whatever W is."""
    demands = (Demand("number of neurons r", r, "≥", 2 * d + 2, "2d + 2"),)
    return Found(
        -largest,
        formula="λ_min(∇²f(W)) = −max_i |λ_i(M)|",
        filled=f"−{mpf_text(largest)}",
        terms={"‖M‖": largest},
        demands=demands,
    )


@MILD_MEMORISATION.states("Lemma 4", "Loss by the spectral norm of M")
def lemma4(n: int, d: int, sigma: float, largest: float) -> Found:
    """Loss by the spectral norm of M: f ≤ nd‖M‖²/(4σ²)."""
    demands = (Demand("smallest singular value σ", sigma, ">", 0.0),)
    return _loss_bound(n, d, sigma, largest, "‖M‖", demands)


@MILD_MEMORISATION.states("Lemma 5", "Smoothness and Hessian Lipschitz constant of g")
def lemma5(B: float, Y: float, gamma: float, ball: float) -> Found:
    """Smoothness of g where ‖W‖_F² ≤ Γ, and the Lipschitz constant of its Hessian there."""
    smoothness = 3 * mpf(B) ** 4 * ball + Y * mpf(B) ** 2 + gamma
    return Found(
        smoothness,
        formula="ℓ = 3B⁴Γ + YB² + γ,  ρ = 6B⁴√Γ",
        filled=f"3 · {mpf_text(B)}⁴ · {mpf_text(ball)} + {mpf_text(Y)} · {mpf_text(B)}² + {mpf_text(gamma)}",
        terms={
            "3B⁴Γ": 3 * mpf(B) ** 4 * ball,
            "YB²": Y * mpf(B) ** 2,
            "γ": gamma,
            "ρ": 6 * mpf(B) ** 4 * context.sqrt(ball),
        },
        notes=("It holds wherever ‖W‖_F² ≤ Γ, ‖x_j‖ ≤ B and |y_j| ≤ Y.",),
    )


QUANTITIES = entries(lemma1, lemma3, lemma4, lemma5)
