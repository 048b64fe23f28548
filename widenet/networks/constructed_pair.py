"""A wide three-layer network near its initialisation that computes a target [beyond-two-layers, lemma 6.2].

The target is (4.1), or its general form of remark 4.2,

    f*_r(x) = Σ_t a*_{r,t} Φ_t(ψ_t(x)) χ_t(x)
    ψ_t(x) = Σ_j v1_{t,j} φ1_j(⟨w1_j, x⟩)⟨w3_j, x⟩,   χ_t(x) = Σ_l v2_{t,l} φ2_l(⟨w2_l, x⟩)⟨w4_l, x⟩

with ⟨w1_j, w3_j⟩ = 0. (4.1) has no ⟨w3_j, x⟩, and 2e_d for w4_l, since x_d = 1/2. With random signs s_t of m1
neurons for each product [remark C.6], appendix C.4 moves the neurons of both layers by

    v⋇_i = 1/(c ε_a² m2) Σ_t (Σ_r a_{r,i} a*_{r,t}) h_t(√m2 α_{t,i}, √m2 b2_i) s_t
    w⋇_j = c/m1 Σ_t s_{t,j} Σ_l v2_{t,l} h_l(√m1⟨w_j, w2_l⟩, √m1 b1_j) w4_l

with h of lemma 6.3: h_l for φ2_l, and h_t for Φ_t(κ_t z). α_{t,i}, a function of the initial weights alone,
is Gaussian with variance 1/m2 and correlation ψ_t(x)/κ_t with the input n_i(x) of neuron i, so that

    E[I[n_i(x) + b2_i ≥ 0] h_t(√m2 α_{t,i}, √m2 b2_i)] = Φ_t(ψ_t(x)).

The paper takes α from lemma 6.4 (`widenet.networks.information`), with κ = 10C√p2 and C = C_ε(φ,1), for which
no machine has enough neurons. Here α_{t,i} = Σ_j v_{i,j} q_t(w_j, b1_j)/(κ_t√m1), the linear function of v_i
that has this correlation, where E[σ(⟨w, x⟩ + b) q_t(w, b)] = ψ_t(x): q is that of `ReluHermite` for
φ1(⟨w1, x⟩), and ⟨w, w3⟩h(⟨w, w1⟩, b) for φ1(⟨w1, x⟩)⟨w3, x⟩, by Stein's identity. κ_t is the root mean square
of q_t. All else is the paper's.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Protocol

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.constructed import Term, log_slope
from widenet.networks.network import Parameters
from widenet.networks.pseudo import with_signs
from widenet.networks.two_widths import (
    draw_two_widths,
    outputs_with_signs,
    random_signs,
    real_outputs,
    sign_pattern,
)
from widenet.theory.beyond_two_layers.hermite import GatedHermite, gated_hermite
from widenet.theory.beyond_two_layers.relu_features import ReluHermite, scaled_coefficients

ORTHOGONAL = 1e-9  # what rounding leaves of ⟨w1, w3⟩ = 0


class Direction(Protocol):
    """A function q of a random neuron with E[σ(⟨w, x⟩ + b) q(w, b)] = ψ(x)."""

    @property
    def vectors(self) -> tuple[Tensor, ...]:
        """The vectors w1, w3 in it, shapes (d,)."""

    def values(self, W: Tensor, b: Tensor) -> Tensor:
        """Values q(w_j, b_j) for standard normal W (m, d) and b (m,), shape (m,)."""


@dataclass(frozen=True, eq=False)
class Ridge:
    """φ(⟨w1, x⟩)."""

    q: ReluHermite  # for φ
    w1: Tensor  # of norm 1, shape (d,)

    @property
    def vectors(self) -> tuple[Tensor, ...]:
        return (self.w1,)

    def values(self, W: Tensor, b: Tensor) -> Tensor:
        return self.q(W @ self.w1, b)


@dataclass(frozen=True, eq=False)
class RidgeTimesLinear:
    """φ(⟨w1, x⟩)⟨w3, x⟩ with ⟨w1, w3⟩ = 0 [remark 4.2]."""

    h: GatedHermite  # h of lemma 6.3 for φ
    w1: Tensor  # of norm 1, shape (d,)
    w3: Tensor  # shape (d,)

    def __post_init__(self) -> None:
        if abs(float(self.w1 @ self.w3)) > ORTHOGONAL * float(self.w3.norm()):
            raise InputError("Remark 4.2 requires w1 and w3 to be orthogonal; these are not.")

    @property
    def vectors(self) -> tuple[Tensor, ...]:
        return self.w1, self.w3

    def values(self, W: Tensor, b: Tensor) -> Tensor:
        return (W @ self.w3) * self.h(W @ self.w1, b)


@dataclass(frozen=True, eq=False)
class ProductTerm:
    """One product of the target, a* Φ(Σ_j v1_j ψ_j(x)) · Σ_l v2_l φ2_l(⟨w2_l, x⟩)⟨w4_l, x⟩."""

    outer: tuple[float, ...]  # Taylor coefficients of Φ
    first: tuple[tuple[float, Direction], ...]  # v1_j with the direction of ψ_j
    second: tuple[Term, ...]  # v2_l is `a` of shape (1,), w2_l is `w1`, w4_l is `w2`
    a: Tensor  # a* of each output, shape (k,)


@dataclass(frozen=True)
class PairMovement:
    """How far W⋇ and V⋇ are from nothing; lemma 6.2 has C_0/m1 and √m1/m2 for the largest rows."""

    largest_row_w: float  # ‖W⋇‖_{2,∞}
    largest_row_v: float  # ‖V⋇‖_{2,∞}
    two_four: float  # ‖W⋇‖_{2,4}
    frobenius: float  # ‖V⋇‖_F


@dataclass(frozen=True)
class PairStudy:
    """Constructions of many sizes, means over seeds.

    Attributes:
        sizes: (m1, m2).
        errors: Distance from f*, root mean square over rows and outputs: of the bias-free `pseudo` network at
            (W⋇, V⋇) [lemma 6.2], and of what the `real` network gains from initialisation to
            (W⁽⁰⁾ + ΣW⋇, V⁽⁰⁾ + V⋇Σ) with random signs Σ [lemma 6.11].
        movements: At each size.
        slopes: Of log error against log √(m1 m2), by least squares.
    """

    sizes: tuple[tuple[int, int], ...]
    errors: dict[str, tuple[float, ...]]
    movements: tuple[PairMovement, ...]
    slopes: dict[str, float]


def pair_step(
    start: Parameters,
    products: Sequence[ProductTerm],
    *,
    generator: torch.Generator,
    epsilon_a: float = 1.0,
    scale: float = 1.0,
) -> Parameters:
    """W⋇ (1, m1, d + 1) and V⋇ (1, m2, m1 + 1), biases staying, for initial weights of `draw_two_widths`.

    Args:
        start: The initial weights.
        products: The target.
        generator: Where the signs s_t come from.
        epsilon_a: ε_a of the initialisation.
        scale: c, which makes W⋇ larger and V⋇ smaller; the paper moves m1^{0.005} between them.
    """
    W, b1, V, b2, A = _standard(start)
    m1, m2 = len(W), len(V)
    step = {name: torch.zeros_like(start[name]) for name in ("W", "V")}
    for product in products:
        _check(product, W.shape[1], len(A))
        signs = random_signs(1, m1, generator=generator)[0]
        alpha, kappa = projected(product.first, W, b1, V)
        h = gated_hermite(scaled_coefficients(product.outer, kappa), "least")
        gains = (product.a @ A) * h(alpha, b2) / (scale * epsilon_a**2 * m2)
        step["V"][0, :, :-1] += torch.outer(gains, signs)
        for term in product.second:
            values = float(term.a) * term.h(W @ term.w1, b1) * signs
            step["W"][0, :, :-1] += torch.outer(scale / m1 * values, term.w2)
    return step


def projected(
    first: Sequence[tuple[float, Direction]], W: Tensor, b: Tensor, V: Tensor
) -> tuple[Tensor, float]:
    """√m2·α (m2,), standard normal given W, and κ, for standard normal W (m1, d), b (m1,) and V (m2, m1)."""
    q = sum((weight * direction.values(W, b) for weight, direction in first), torch.zeros_like(b))
    kappa = float(q.square().mean().sqrt())
    if kappa == 0:
        return torch.zeros_like(V[:, 0]), 0.0
    return V @ q / (kappa * math.sqrt(len(W))), kappa


def pair_movement(step: Parameters) -> PairMovement:
    """Norms of W⋇ and V⋇."""
    of_w, of_v = (step[name][0].norm(dim=1) for name in ("W", "V"))
    return PairMovement(
        float(of_w.max()), float(of_v.max()), float(of_w.pow(4).sum() ** 0.25), float(of_v.norm())
    )


def pair_errors(
    start: Parameters, step: Parameters, X: Tensor, Y: Tensor, *, generator: torch.Generator
) -> dict[str, float]:
    """Root mean square distances from Y (n, k) of the two networks that the construction gives."""
    signs, A = sign_pattern(start, X), start["A"]
    signed = with_signs(step, random_signs(1, start["W"].shape[1], generator=generator))
    there = {"W": start["W"] + signed["W"], "V": start["V"] + signed["V"], "A": A}
    found = {
        "pseudo": outputs_with_signs(signs, {**step, "A": A}, X, "bias-free"),
        "real": real_outputs(there, X) - real_outputs(start, X),
    }
    return {name: float((out[0] - Y).square().mean().sqrt()) for name, out in found.items()}


def coupled_error(start: Parameters, step: Parameters, there: Parameters, X: Tensor, Y: Tensor) -> float:
    """The pseudo network's distance from Y (n, k) with the signs that the weights `there` have.

    By corollary 6.6 it stays small as long as `there` is near initialisation.
    """
    out = outputs_with_signs(sign_pattern(there, X), {**step, "A": start["A"]}, X, "bias-free")
    return float((out[0] - Y).square().mean().sqrt())


def pair_study(
    products: Sequence[ProductTerm],
    target: Callable[[Tensor], Tensor],
    X: Tensor,
    sizes: Sequence[tuple[int, int]],
    *,
    num_seeds: int,
    generator: torch.Generator,
    scale: Callable[[int], float] = lambda m1: 1.0,
) -> PairStudy:
    """Construct networks of each pair of widths and measure how far they are from the target.

    Args:
        products: What to compute.
        target: f*, from X (n, d) to outputs (n, k).
        X: Rows of norm 1, shape (n, d), float64, with x_d = 1/2 where w4 = 2e_d relies on it.
        sizes: (m1, m2) of each network, at least two of them.
        num_seeds: Networks of each size, whose errors are averaged.
        generator: Where the initial weights and signs come from.
        scale: c of `pair_step`, by m1.
    """
    Y = target(X)
    errors: dict[str, list[float]] = {"pseudo": [], "real": []}
    movements = []
    for m1, m2 in sizes:
        found, moved = [], []
        for _ in range(num_seeds):
            start = draw_two_widths(X.shape[1], Y.shape[1], m1, m2, generator=generator)
            step = pair_step(start, products, generator=generator, scale=scale(m1))
            found.append(pair_errors(start, step, X, Y, generator=generator))
            moved.append(pair_movement(step))
        for name, values in errors.items():
            values.append(sum(each[name] for each in found) / num_seeds)
        columns = zip(*map(astuple, moved), strict=True)
        movements.append(PairMovement(*(sum(column) / num_seeds for column in columns)))
    widths = [math.sqrt(m1 * m2) for m1, m2 in sizes]
    slopes = {name: log_slope(widths, values) for name, values in errors.items()}
    return PairStudy(
        tuple(sizes), {name: tuple(values) for name, values in errors.items()}, tuple(movements), slopes
    )


def _standard(start: Parameters) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """W, b1, V and b2 scaled to standard normal entries, and A, of one copy."""
    W, V, A = (start[name][0] for name in ("W", "V", "A"))
    W, V = W * math.sqrt(len(W)), V * math.sqrt(len(V))
    return W[:, :-1], W[:, -1], V[:, :-1], V[:, -1], A


def _check(product: ProductTerm, d: int, k: int) -> None:
    vectors = [each for term in product.second for each in (term.w1, term.w2)]
    vectors += [vector for _, direction in product.first for vector in direction.vectors]
    if product.a.shape != (k,) or any(vector.shape != (d,) for vector in vectors):
        raise InputError(f"A product needs vectors w of {d} numbers and a of {k}.")
