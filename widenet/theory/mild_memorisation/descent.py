"""Theorems of `mild-memorisation` on two layers: ŷ = Σ a_i (w_iᵀx)², trained by perturbed gradient descent.

σ is the smallest singular value of [x_1^{⊗2} … x_n^{⊗2}], so σ² = λ_min((XXᵀ)^{∘2}). The loss is
f = Σ(ŷ − y)²/(4n), and what is descended is g = f + γ/2 ‖W‖_F². The lemmas on f and g are in `landscape`,
three layers in `three_layers`.
"""

from dataclasses import astuple, dataclass

from widenet.theory.demand import Demand, mpf_text
from widenet.theory.entry import Argument
from widenet.theory.mild_memorisation.landscape import landscape_demands
from widenet.theory.mild_memorisation.symbols import MILD_MEMORISATION
from widenet.theory.numbers import Number, as_float, context, mpf
from widenet.theory.stated import Found, entries

C_PGD = 0.1  # c of Algorithm 1, ours: the paper requires c ≤ c_max, an absolute constant without a value


@dataclass(frozen=True)
class PgdThresholds:
    """What Algorithm 1 computes in its first line."""

    chi: float  # χ, the logarithm that all the others share
    eta: float  # step η
    radius: float  # r, of the ball from which a perturbation is drawn
    g_thres: float  # gradients shorter than this may be perturbed
    f_thres: float  # fall of the loss that a perturbation has to bring
    t_thres: float  # steps within which it has to


@dataclass(frozen=True)
class PgdParameters:
    """What Theorem 4 feeds into Algorithm 1."""

    rho: float  # ρ, Lipschitz constant of the Hessian of g
    gamma: float  # γ, weight of the regulariser ‖W‖_F²/2
    ell: float  # ℓ, smoothness of g
    epsilon: float  # ε′, to which the gradient is brought so that the loss comes to ε
    delta_f: float  # Δ ≥ f(0) + 1, by which the loss may fall
    ball: float  # Γ = 2(f(0) + 1)/γ, which bounds ‖W‖_F² all along


def pgd_thresholds(
    dimension: int, ell: float, rho: float, epsilon: float, c: float, delta: float, delta_f: float
) -> PgdThresholds:
    """First line of Algorithm 1.

    Args:
        dimension: Number of trained parameters.
        ell: ℓ, smoothness.
        rho: ρ, Lipschitz constant of the Hessian.
        epsilon: Gradient norm to reach; Theorem 4's ε′, not its ε.
        c: Absolute constant.
        delta: Failure probability δ.
        delta_f: Δ_f, bound on how far the loss can fall.
    """
    exact = _thresholds(dimension, mpf(ell), mpf(rho), mpf(epsilon), mpf(c), delta, delta_f)
    return PgdThresholds(*map(as_float, astuple(exact)))


def _thresholds(
    dimension: int, ell: Number, rho: Number, epsilon: Number, c: Number, delta: float, delta_f: Number
) -> PgdThresholds:
    """The same in numbers that cannot overflow."""
    chi = 3 * max(context.log(dimension * ell * delta_f / (c * epsilon**2 * delta)), mpf(4))
    return PgdThresholds(
        chi=chi,
        eta=c / ell,
        radius=context.sqrt(c) * epsilon / (chi**2 * ell),
        g_thres=context.sqrt(c) * epsilon / chi**2,
        f_thres=c / chi**3 * context.sqrt(epsilon**3 / rho),
        t_thres=chi / c**2 * ell / context.sqrt(rho * epsilon),
    )


def pgd_parameters(
    n: int, d: int, B: float, Y: float, sigma: float, f0: float, epsilon: float
) -> PgdParameters:
    """Theorem 4's choice of ρ, γ, ℓ, and its proof's ε′, for arguments as `theorem4` has them."""
    return PgdParameters(*map(as_float, astuple(_parameters(n, d, mpf(B), Y, mpf(sigma), f0, epsilon))))


def _parameters(
    n: int, d: int, B: Number, Y: float, sigma: Number, f0: float, epsilon: float
) -> PgdParameters:
    """The same in numbers that cannot overflow.

    γ and ε′ are such that √(ρε′) = γ: a second-order stationary point of g then has λ_min(∇²f) ≥ −2γ, and by
    Lemma 1 a loss of at most nd(2γ)²/(4σ²) = ε. ρ and ℓ are those of Lemma 5 within the ball.
    """
    gamma = context.sqrt(sigma**2 * epsilon / (n * d))
    ball = 2 * (f0 + 1) / gamma
    rho = 6 * B**4 * context.sqrt(ball)
    ell = max(3 * B**4 * ball + Y * B**2 + gamma, mpf(1))
    return PgdParameters(rho, gamma, ell, epsilon=gamma**2 / rho, delta_f=mpf(f0) + 1, ball=ball)


@MILD_MEMORISATION.states(
    "Theorem 3 and Algorithm 1",
    "Steps and thresholds of perturbed gradient descent",
    "memorisation-theorem-3",
    epsilon=Argument("gradient norm to reach", low=0.0, strict=True),
)
def theorem3(
    dimension: int, ell: float, rho: float, epsilon: float, delta: float, delta_f: float, c: float = C_PGD
) -> Found:
    """Steps that perturbed gradient descent can make before it stops at an ε-second-order stationary point.

    A perturbation lowers the loss by f_thres within t_thres + 1 steps or is the last one, and a step at a
    gradient above g_thres lowers it by ηg_thres²/2, which for c ≤ ½ is no less per step; the loss can fall by
    Δ_f in all. That makes (Δ_f/f_thres + 1)(t_thres + 1) steps, where Δ_f t_thres/f_thres = χ⁴ℓΔ_f/(c³ε²) is
    the O of the theorem with its logarithm in χ.
    """
    exact = _thresholds(dimension, mpf(ell), mpf(rho), mpf(epsilon), mpf(c), delta, delta_f)
    demands = (
        Demand("ε", epsilon, "≤", mpf(ell) ** 2 / mpf(rho), "ℓ²/ρ"),
        Demand("constant c", c, "≤", 0.5),
    )
    return Found(
        _pgd_steps(exact, delta_f),
        formula="(Δ_f/f_thres + 1)(t_thres + 1),  f_thres = (c/χ³)√(ε³/ρ),  t_thres = ⌈(χ/c²) ℓ/√(ρε)⌉,  "
        "χ = 3 max{log(dim ℓ Δ_f/(c ε² δ)), 4}",
        filled=_filled_steps(exact, delta_f),
        terms={
            "χ": exact.chi,
            "η": exact.eta,
            "radius": exact.radius,
            "g_thres": exact.g_thres,
            "f_thres": exact.f_thres,
            "t_thres": exact.t_thres,
        },
        demands=demands,
    )


def _pgd_steps(exact: PgdThresholds, delta_f: Number | float) -> Number:
    """(Δ_f/f_thres + 1)(t_thres + 1), t_thres being the whole number of steps that is waited."""
    return (delta_f / exact.f_thres + 1) * (context.ceil(exact.t_thres) + 1)


def _filled_steps(exact: PgdThresholds, delta_f: Number | float) -> str:
    waited = context.ceil(exact.t_thres)
    falls = f"{mpf_text(delta_f)}/{mpf_text(exact.f_thres)} + 1"
    return f"({falls}) · ({mpf_text(waited)} + 1) at χ = {mpf_text(exact.chi)}"


@MILD_MEMORISATION.states("Theorem 1", "Neurons for two layers to memorise")
def theorem1(n: int, d: int) -> Found:
    """Neurons with which two layers memorise any n labels in general position: 2d + 2 (informal)."""
    demands = (Demand("number of samples n", n, "≤", d * (d + 1) // 2, "d(d+1)/2"),)
    return Found(
        2 * d + 2,
        formula="r = 2d + 2",
        filled=f"2 · {d} + 2",
        terms={"trained parameters": d * (2 * d + 2), "most samples": d * (d + 1) // 2},
        demands=demands,
        notes=("General position is made precise by Theorem 4: σ > 0.",),
    )


@MILD_MEMORISATION.states("Theorem 4", "ρ, γ, ℓ and the steps in which two layers memorise")
def theorem4(
    n: int,
    d: int,
    r: int,
    B: float,
    Y: float,
    sigma: float,
    f0: float,
    epsilon: float,
    delta: float,
    c: float = C_PGD,
) -> Found:
    """Steps in which perturbed gradient descent from W = 0 brings the loss of two layers to ε.

    The paper's O(B⁸ℓ(nd)^{5/2}(f(0)+1)²/(σ⁵ε^{5/2}) log⁴ …) is Theorem 3's count at ε′ and Δ = f(0) + 1; here
    it is that count with its last phase, and χ⁴ for the logarithm.
    """
    chosen = _parameters(n, d, mpf(B), Y, mpf(sigma), f0, epsilon)
    exact = _thresholds(d * r, chosen.ell, chosen.rho, chosen.epsilon, mpf(c), delta, chosen.delta_f)
    steps = _pgd_steps(exact, chosen.delta_f)
    rise = 3 * c * chosen.epsilon**2 / (2 * exact.chi**4 * chosen.ell)
    demands = (
        *landscape_demands(n, d, r, sigma),
        Demand("ε′", chosen.epsilon, "≤", chosen.ell**2 / chosen.rho, "ℓ²/ρ"),
        rise_demand(rise),
        Demand("constant c", c, "≤", 0.5),
    )
    return Found(
        steps,
        formula="((f(0)+1)/f_thres + 1)(t_thres + 1), about χ⁴ ℓ (f(0)+1) / (c³ ε′²),  "
        "ε′ = (σ²ε/nd)^{5/4} / (6B⁴√(2(f(0)+1)))",
        filled=_filled_steps(exact, chosen.delta_f),
        terms={
            "ρ": chosen.rho,
            "γ": chosen.gamma,
            "ℓ": chosen.ell,
            "ε′": chosen.epsilon,
            "Γ": chosen.ball,
            "χ": exact.chi,
            "η": exact.eta,
            "f_thres": exact.f_thres,
            "t_thres": exact.t_thres,
            "rise of g": rise,
        },
        demands=demands,
    )


def rise_demand(rise: Number | float) -> Demand:
    """By how much a perturbation may raise g in Theorem 4; only a very large ε breaks it."""
    return Demand("rise of g by a perturbation, 3cε′²/(2χ⁴ℓ),", rise, "≤", 1.0)


QUANTITIES = entries(theorem1, theorem3, theorem4)
