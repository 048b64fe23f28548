"""A wide two-layer network near its initialisation that computes a given function.

It is that of [beyond-two-layers, appendix B.1]. For f*_r(x) = Σ_i a*_{r,i} φ_i(⟨w1_i, x⟩)⟨w2_i, x⟩, concept
class (3.1), lemma B.1 moves neuron j by

    w⋇_j = 1/(ε_a² m) Σ_i (Σ_r a_{r,j} a*_{r,i}) h_i(√m⟨w_j, w1_i⟩, √m b_j) w2_i

with h_i of lemma 6.3 and the weights w_j, b_j ~ N(0, 1/m), a_{r,j} ~ N(0, ε_a²) of initialisation. With the
signs of initialisation, each neuron then has the mean f*/m, so that a network of m neurons has an error like
m^{-1/2}.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.fully_connected import TwoLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.network import Parameters, network_outputs
from widenet.networks.pseudo import Pseudo
from widenet.theory.beyond_two_layers.hermite import GatedHermite


@dataclass(frozen=True, eq=False)
class Term:
    """One term of the function, a* φ(⟨w1, x⟩)⟨w2, x⟩."""

    h: GatedHermite  # h of Lemma 6.3 for φ
    w1: Tensor  # of norm 1, shape (d,)
    w2: Tensor  # shape (d,)
    a: Tensor  # a* of each output, shape (k,)


@dataclass(frozen=True)
class Movement:
    """How far the construction is from initialisation."""

    largest_row: float  # ‖W⋇‖_{2,∞}, the largest movement of a neuron; the lemma has Õ(C_ε(φ, 1)/(ε_a m))
    frobenius: float  # ‖W⋇‖_F; the lemma has Õ(C_s(φ, 1)/(ε_a √m))
    relative: float  # ‖W⋇‖_F/‖W⁽⁰⁾‖_F


@dataclass(frozen=True)
class WidthStudy:
    """Constructions of many widths, means over seeds.

    Attributes:
        widths: m.
        errors: Distance from f*, root mean square over rows: of the `pseudo` network without biases at W⋇
            [lemma B.1], of the pseudo network at `W0 + W⋇` [corollary B.2], and of the `real` one there.
        movements: At each width.
        slopes: Of log error against log m, by least squares.
    """

    widths: tuple[int, ...]
    errors: dict[str, tuple[float, ...]]
    movements: tuple[Movement, ...]
    slopes: dict[str, float]


def constructed_step(start: Parameters, terms: Sequence[Term], epsilon_a: float) -> Parameters:
    """W⋇ for initial weights W (1, m, d + 1) and A (1, k, m): shape (1, m, d + 1), biases stay."""
    W, A = start["W"][0], start["A"][0]
    m, d = W.shape[0], W.shape[1] - 1
    step = torch.zeros_like(W)
    for term in terms:
        if term.w1.shape != (d,) or term.w2.shape != (d,) or term.a.shape != A.shape[:1]:
            raise InputError(
                f"A term needs w1 and w2 of {d} numbers and a of {A.shape[0]}, not of shapes "
                f"{tuple(term.w1.shape)}, {tuple(term.w2.shape)} and {tuple(term.a.shape)}."
            )
        alpha, b = math.sqrt(m) * (W[:, :-1] @ term.w1), math.sqrt(m) * W[:, -1]
        gains = (term.a @ A) * term.h(alpha, b) / (epsilon_a**2 * m)
        step[:, :-1] += torch.outer(gains, term.w2)
    return {"W": step[None]}


def movement(start: Parameters, step: Parameters) -> Movement:
    """Norms of W⋇ (1, m, d + 1)."""
    rows = step["W"][0].norm(dim=1)
    total = float(rows.norm())
    return Movement(float(rows.max()), total, total / float(start["W"].norm()))


def expected_frobenius(terms: Sequence[Term], epsilon_a: float, width: int) -> float:
    """(E‖W⋇‖_F²)^{1/2} = (Σ_i ‖a*_i‖²‖w2_i‖² E[h_i²])^{1/2}/(ε_a √m), where the w2_i are orthogonal."""
    squares = [float(term.a.norm() * term.w2.norm()) ** 2 * term.h.mean_square for term in terms]
    return math.sqrt(sum(squares) / width) / epsilon_a


def construction_errors(
    network: TwoLayers, start: Parameters, step: Parameters, X: Tensor, Y: Tensor
) -> dict[str, float]:
    """Root mean square distances from Y (n, k) of the three networks that the construction gives."""
    A, moved = start["A"], {**start, "W": start["W"] + step["W"]}
    found = {
        "pseudo": network_outputs(Pseudo(network, start, "bias-free"), {"W": step["W"], "A": A}, X),
        "W0 + W⋇": network_outputs(Pseudo(network, start), moved, X),
        "real": network_outputs(network, moved, X),
    }
    return {name: float((out[0] - Y).square().sum(-1).mean().sqrt()) for name, out in found.items()}


def width_study(
    terms: Sequence[Term],
    target: Callable[[Tensor], Tensor],
    X: Tensor,
    widths: Sequence[int],
    *,
    epsilon_a: float,
    num_seeds: int,
    generator: torch.Generator,
) -> WidthStudy:
    """Construct networks of each width and measure how far they are from the function.

    Args:
        terms: What to compute.
        target: f*, from X (n, d) to outputs (n, k).
        X: Rows of norm 1, shape (n, d), float64.
        widths: m of each network, at least two of them.
        epsilon_a: ε_a of the initialisation.
        num_seeds: Networks of each width. Their errors are averaged, not the squares: h has polynomials of a
            high degree, whose rare large values would rule a mean of squares.
        generator: Where the initial weights come from.
    """
    Y = target(X)
    errors: dict[str, tuple[float, ...]] = {}
    movements = []
    for width in widths:
        network, found, moved = TwoLayers(width, "hidden"), [], []
        for _ in range(num_seeds):
            initialisation = Initialisation("layers", epsilon_a=epsilon_a)
            start = draw_parameters(
                network, X.shape[1], Y.shape[1], initialisation, generator=generator, dtype=X.dtype
            )
            step = constructed_step(start, terms, epsilon_a)
            found.append(construction_errors(network, start, step, X, Y))
            moved.append(movement(start, step))
        for name in found[0]:
            errors[name] = (*errors.get(name, ()), sum(each[name] for each in found) / num_seeds)
        columns = zip(*map(astuple, moved), strict=True)
        movements.append(Movement(*(sum(column) / num_seeds for column in columns)))
    slopes = {name: log_slope(widths, values) for name, values in errors.items()}
    return WidthStudy(tuple(widths), errors, tuple(movements), slopes)


def log_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Slope of log y against log x by least squares."""
    logs_x, logs_y = (torch.tensor(values, dtype=torch.float64).log() for values in (x, y))
    centred = logs_x - logs_x.mean()
    return float(centred @ logs_y / centred.square().sum())
