"""Information out of randomness: a function found in a random neuron [beyond-two-layers, lemma 6.4].

The input of a neuron of the second layer at initialisation, n(x) = Σ_j v_j σ(⟨w_j, x⟩ + b_j), is random and
knows no function φ. Still it is ρ·φ(⟨w*, x⟩) + B(x) + R(x), with a Gaussian ρ that depends on the weights
alone and is independent of B, and a small R. The proof takes h of lemma 6.3, cut to [−C, C], and y_j = h_j/C.
Of √m2 v_j lemma A.4 then makes a set S of neurons, each with probability τ, and signs s_j, which are
independent of W. Along u = s/√|S| the last column of W has the component α = uᵀWe_d ~ N(0, 1/m1), which is
split off: W = αue_dᵀ + β. With it

    ρ = α x_d √(τ m1)/(C √m2)
    B(x) = Σ_{j∉S} v_j σ(⟨w_j, x⟩ + b_j) + Σ_{j∈S} v_j σ(⟨β_j, x⟩ + b_j)

and R is the rest.

S does not change when β takes the place of W, since h looks at ⟨w_j, w*⟩, and w* is orthogonal to e_d (the
paper takes w* = e_1). φ is φ_ε here, the mean that the cut h has.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.constructed_pair import ORTHOGONAL
from widenet.networks.network import Parameters
from widenet.theory.beyond_two_layers.hermite import FARTHEST, GatedHermite, normal_density
from widenet.theory.beyond_two_layers.intervals import LARGEST_TAU, interval_partition

GRID = 501  # points of each axis of the quadrature for φ_ε, on which a cut function is only continuous


@dataclass(frozen=True, eq=False)
class Decomposition:
    """n(x) = ρ·φ_ε(⟨w*, x⟩) + B(x) + R(x) of every neuron of the second layer.

    Attributes:
        inputs: n(x) without its bias, shape (m2, n).
        rho: ρ, shape (m2,).
        found: φ_ε(⟨w*, x⟩), shape (n,).
        independent: B(x), shape (m2, n).
        num_chosen: |S| of each neuron, shape (m2,).
    """

    inputs: Tensor
    rho: Tensor
    found: Tensor
    independent: Tensor
    num_chosen: Tensor

    @property
    def rest(self) -> Tensor:
        """R(x), shape (m2, n)."""
        return self.inputs - self.rho[:, None] * self.found - self.independent


def decompose(
    start: Parameters,
    h: GatedHermite,
    direction: Tensor,
    X: Tensor,
    *,
    largest: float,
    tau: float = LARGEST_TAU,
) -> Decomposition:
    """Lemma 6.4 for φ(⟨w*, x⟩) at the initial weights of a network of two widths.

    Args:
        start: W (1, m1, d + 1) and V (1, m2, m1 + 1), as `draw_two_widths` draws them.
        h: h of lemma 6.3 for φ.
        direction: w*, of norm 1 and orthogonal to e_d, shape (d,).
        X: Rows of norm 1 with one x_d for all, shape (n, d), float64.
        largest: C, at which |h| is cut.
        tau: τ, the share of neurons in S.
    """
    if abs(float(direction[-1])) > ORTHOGONAL or float(X[:, -1].max() - X[:, -1].min()) > ORTHOGONAL:
        raise InputError("Lemma 6.4 requires w* orthogonal to the last coordinate, and one x_d for all rows.")
    W, V = start["W"][0], start["V"][0, :, :-1]
    m1, m2 = len(W), len(V)
    scaled = W * math.sqrt(m1)
    y = h(scaled[:, :-1] @ direction, scaled[:, -1]).clamp(-largest, largest) / largest
    signs = interval_partition(y, tau).signs(V * math.sqrt(m2))  # s_j of each neuron, shape (m2, m1)
    num_chosen = signs.abs().sum(1)
    units = signs / num_chosen.clamp_min(1).sqrt()[:, None]
    alpha = units @ W[:, -2]  # W e_d: the biases follow it
    last = float(X[0, -1])
    values = X @ W[:, :-1].T + W[:, -1]  # ⟨w_j, x⟩ + b_j, shape (n, m1)
    inputs = V @ values.relu().T
    independent = torch.stack(
        [(values - last * part * unit).relu() @ row for part, unit, row in zip(alpha, units, V, strict=True)]
    )
    rho = alpha * last * math.sqrt(tau * m1 / m2) / largest
    found = cut_expectation(h, X @ direction, largest)
    return Decomposition(inputs, rho, found, independent, num_chosen)


def cut_expectation(h: GatedHermite, z: Tensor, largest: float) -> Tensor:
    """φ_ε(z) = E[I[zα + √(1−z²)β + b ≥ 0] h̄(α, b)] for h̄ = h cut to [−C, C], shape of z (n,)."""
    grid = torch.linspace(-FARTHEST, FARTHEST, GRID, dtype=torch.float64)
    mass = normal_density(grid) * (grid[1] - grid[0])
    values = h(grid[:, None].expand(-1, GRID), grid[None].expand(GRID, -1)).clamp(-largest, largest)
    weighted = values * mass[:, None] * mass
    means = []
    for each in z.tolist():
        apart = math.sqrt(max(1 - each**2, 0.0))
        reached = each * grid[:, None] + grid
        passed = torch.special.ndtr(reached / apart) if apart else (reached >= 0).to(grid.dtype)
        means.append(float((weighted * passed).sum()))
    return torch.tensor(means, dtype=torch.float64)
