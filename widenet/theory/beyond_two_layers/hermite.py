"""Functions out of indicators [beyond-two-layers, lemma 6.3].

For a smooth φ there is an h with E[I[⟨w, x⟩ + b ≥ 0] h(⟨w, w*⟩, b)] = φ(⟨w*, x⟩). Here w is standard normal,
b ~ N(0, 1), and ‖w*‖ = ‖x‖ = 1. Let z = ⟨w*, x⟩, α = ⟨w, x⟩ and α₁ = ⟨w, w*⟩. Then α₁ = zα + √(1−z²)β with a
β ~ N(0, 1) that is independent of α. Of the Hermite polynomial h_i (probabilists', definition A.5), Mehler's
formula gives E[h_i(α₁) | α] = zⁱh_i(α). With the normal density ϕ, (h_{i−1}ϕ)' = −h_iϕ, so that

    E[h_i(α₁) I[α + b ≥ 0] | b] = zⁱ p_i(b),   p_i(b) = h_{i−1}(−b) ϕ(b),   p_0(b) = P(α ≥ −b),

which lemma A.6 writes out as a sum. So h(α₁, b) = Σ_i g_i(b) h_i(α₁) has the mean Σ_i c_i zⁱ as soon as
E[g_i(b) p_i(b)] = c_i for every i. Two such gates g_i are here:
    window: g_i = c_i/p'_i on a window of b, 0 elsewhere, as in the paper [claim C.1]; g_0 = 2c_0.
    least: g_i = c_i p_i/E[p_i²], which makes E[h²] as small as it can be.
All is computed with h_i/√i!, whose squares have mean 1, so that no factorial overflows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.symbols import BEYOND_TWO_LAYERS
from widenet.theory.entry import Argument
from widenet.theory.numbers import INFINITY
from widenet.theory.smooth.complexity import TWO_LAYER_POWER, c_epsilon, c_s
from widenet.theory.smooth.functions import function_from_text
from widenet.theory.smooth.taylor import Taylor
from widenet.theory.stated import Found, entries

Gate = Literal["window", "least"]

CLAMP_DEGREE, CLAMP_EPSILON = 100.0, 10.0  # B_i = 100√i + 10√log(1/ε) [beyond-two-layers, claim C.2]
FARTHEST = 10.0  # standard deviations beyond which a Gaussian has no weight that float64 would show
HIGHEST_DEGREE = 100
WINDOW_NODES = 32  # of a quadrature over one window, where the integrand is nearly a polynomial


@dataclass(frozen=True)
class GatedHermite:
    """h(α, b) = Σ_i g_i(b) h_i(α), each h_i constant beyond ±B_i as in the paper's proof.

    Attributes:
        coefficients: c_i of φ(z) = Σ_i c_i zⁱ, i = 0 to the degree.
        gate: Which g_i, `window` or `least`.
        epsilon: ε in B_i = 100√i + 10√log(1/ε).
    """

    coefficients: tuple[float, ...]
    gate: Gate = "window"
    epsilon: float = 1e-3

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    @cached_property
    def gains(self) -> tuple[float, ...]:
        """c_i over the mean of p_i in its window, or over E[p_i²], for h_i/√i!."""
        shares = window_means(self.degree) if self.gate == "window" else mean_squares(self.degree)
        return tuple(c / share for c, share in zip(self.coefficients, shares, strict=True))

    @cached_property
    def clamps(self) -> tuple[float, ...]:
        """B_i."""
        beyond = CLAMP_EPSILON * math.sqrt(math.log(1 / self.epsilon))
        return tuple(CLAMP_DEGREE * math.sqrt(i) + beyond for i in range(self.degree + 1))

    def gates(self, b: Tensor) -> Tensor:
        """√i! g_i(b), shape (degree + 1, *b.shape)."""
        if self.gate == "window":
            values = torch.stack([in_window(i, b).to(b.dtype) for i in range(self.degree + 1)])
        else:
            values = gated_means(b, self.degree)
        return values * b.new_tensor(self.gains).view(-1, *[1] * b.dim())

    def __call__(self, alpha: Tensor, b: Tensor) -> Tensor:
        """h(α, b) of two tensors with as many axes, which broadcast."""
        largest = alpha.new_tensor(self.clamps).view(-1, *[1] * alpha.dim())
        if bool((alpha.abs() <= self.clamps[0]).all()):  # B_0 is the smallest: nothing is clamped
            return (self.gates(b) * hermite(alpha, self.degree)).sum(0)
        clamped = torch.maximum(torch.minimum(alpha.expand(self.degree + 1, *alpha.shape), largest), -largest)
        each = torch.stack([hermite(z, i)[i] for i, z in enumerate(clamped)])
        return (self.gates(b) * each).sum(0)

    @property
    def mean_square(self) -> float:
        """E[h(α, b)²] without the clamps: the h_i are orthogonal, so Σ_i i! E[g_i²]."""
        if self.gate == "window":
            shares = [window_share(i) for i in range(self.degree + 1)]
        else:
            shares = list(mean_squares(self.degree))
        return sum(gain**2 * share for gain, share in zip(self.gains, shares, strict=True))

    @property
    def log_largest(self) -> float:
        """The logarithm of Σ_i max|g_i| |h_i(B_i)|, a bound on |h|; −∞ for φ = 0.

        Beyond its zeros, the largest of which is below 2√i, |h_i| grows, and B_i is far beyond.
        """
        b = torch.linspace(-FARTHEST, FARTHEST, 4001, dtype=torch.float64)
        peaks = gated_means(b, self.degree).abs().amax(1).tolist()
        if self.gate == "window":
            peaks = [1.0] * (self.degree + 1)
        logs = [
            math.log(abs(gain) * peak) + log_hermite(bound, i)
            for i, (gain, peak, bound) in enumerate(zip(self.gains, peaks, self.clamps, strict=True))
            if gain
        ]
        return float(np.logaddexp.reduce(logs)) if logs else -math.inf


def gated_hermite(
    coefficients: Sequence[float], gate: Gate = "window", epsilon: float = 1e-3
) -> GatedHermite:
    """Lemma 6.3's h for φ(z) = Σ_i c_i zⁱ."""
    return GatedHermite(tuple(float(c) for c in coefficients), gate, epsilon)


def hermite(z: Tensor, degree: int) -> Tensor:
    """h_i(z)/√i! for i = 0 to `degree`, shape (degree + 1, *z.shape)."""
    values = [torch.ones_like(z), z]
    for i in range(1, degree):
        values.append((z * values[i] - math.sqrt(i) * values[i - 1]) / math.sqrt(i + 1))
    return torch.stack(values[: degree + 1])


def log_hermite(z: float, i: int) -> float:
    """log(h_i(z)/√i!) for z beyond all zeros, by ratios of neighbours."""
    log, ratio = 0.0, z
    for j in range(1, i + 1):
        log += math.log(ratio)
        ratio = (z - math.sqrt(j) / ratio) / math.sqrt(j + 1)
    return log


def gated_means(b: Tensor, degree: int) -> Tensor:
    """p_i(b)/√i! for i = 0 to `degree`, shape (degree + 1, *b.shape).

    For i ≥ 1 this is h_{i−1}(−b)ϕ(b)/√i!, and p_0(b) = P(α ≥ −b).
    """
    first = torch.special.ndtr(b)[None]
    if degree == 0:
        return first
    orders = torch.arange(1, degree + 1, dtype=b.dtype).view(-1, *[1] * b.dim())
    return torch.cat([first, hermite(-b, degree - 1) * normal_density(b) / orders.sqrt()])


def window(i: int) -> tuple[float, float]:
    """The values of b that let h_i pass [beyond-two-layers, claim C.1]: all for i = 0."""
    if i == 0:
        return -math.inf, math.inf
    return -1 / (2 * i), (0.0 if i % 2 == 0 else 1 / (2 * i))


def in_window(i: int, b: Tensor) -> Tensor:
    """Whether b is in the window of h_i: |b| ≤ 1/2i for odd i, 0 < −b ≤ 1/2i for even i > 0."""
    low, high = window(i)
    return (b >= low) & (b < high if i > 0 and i % 2 == 0 else b <= high)


def window_share(i: int) -> float:
    """P(b in the window of h_i)."""
    low, high = window(i)
    return (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2


def window_means(degree: int) -> tuple[float, ...]:
    """E[p_i(b) I[b in the window]]/√i!, for i = 0 to `degree`: ½, then p'_i of claim C.1 over √i!."""
    means = [0.5]
    for i in range(1, degree + 1):
        b, weights = legendre(*window(i), WINDOW_NODES + i)
        means.append(float((weights * gated_means(b, i)[i] * normal_density(b)).sum()))
    return tuple(means)


def mean_squares(degree: int) -> tuple[float, ...]:
    """E[p_i(b)²]/i! for i = 0 to `degree`.

    p_0 is uniform on [0, 1]. The others are ∫ h_{i−1}(b)²/i! ϕ(b)³ db, and ϕ³ is a normal density of variance
    1/3 over 2π√3, so that a Gauss quadrature of i nodes is exact.
    """
    means = [1 / 3]
    nodes, weights = np.polynomial.hermite_e.hermegauss(max(degree, 1))
    b = torch.from_numpy(nodes / math.sqrt(3))
    shares = torch.from_numpy(weights / math.sqrt(2 * math.pi)) / (2 * math.pi * math.sqrt(3))
    squares = (hermite(b, max(degree - 1, 0)).square() * shares).sum(1)
    means += [float(squares[i - 1]) / i for i in range(1, degree + 1)]
    return tuple(means)


def expectation(h: GatedHermite, z: Tensor) -> Tensor:
    """E[I[zα₁ + √(1−z²)β₁ + b ≥ 0] h(α₁, b)] by quadrature over α, β and b, for each z in [−1, 1].

    Nothing of the derivation above is used but the change of variables: α₁ = zα + √(1−z²)β, α ≥ −b. Gauss
    quadrature over β is exact for polynomials of degree up to 2·nodes − 1; b runs over the pieces between
    ends of windows.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(h.degree // 2 + 2)
    beta, beta_weights = torch.from_numpy(nodes), torch.from_numpy(weights / math.sqrt(2 * math.pi))
    ends = {end for i in range(1, h.degree + 1) for end in window(i)} | {-FARTHEST, 0.0, FARTHEST}
    totals = torch.zeros_like(z, dtype=torch.float64)
    for low, high in pairwise(sorted(ends)):
        b, b_weights = legendre(low, high, 80 if high - low > 1 else 6)
        alpha, alpha_weights = legendre(-b, torch.full_like(b, FARTHEST), 48 + 2 * h.degree)
        mass = (b_weights * normal_density(b))[:, None] * alpha_weights * normal_density(alpha)
        for index, each in enumerate(z.tolist()):
            alpha1 = each * alpha[..., None] + math.sqrt(max(1 - each**2, 0.0)) * beta
            values = h(alpha1, b[:, None, None])
            totals[index] += float((mass[..., None] * beta_weights * values).sum())
    return totals


def legendre(low: float | Tensor, high: float | Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Nodes and weights of Gauss–Legendre quadrature from low to high, shapes (*ends.shape, num_nodes)."""
    nodes, weights = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(num_nodes))
    first, last = (torch.as_tensor(end, dtype=torch.float64)[..., None] for end in (low, high))
    half = (last - first) / 2
    return first + half * (nodes + 1), half * weights


def normal_density(z: Tensor) -> Tensor:
    """Of the standard normal distribution."""
    return torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)


def taylor_degree(f: Taylor, epsilon: float) -> int:
    """The smallest degree at which Σ |c_i| of the terms left out is at most ε/2."""
    if f.degree is not None:
        return f.degree
    if not f.certain or f.radius <= 1:
        raise InputError("φ must be a formula in z whose Taylor series converges beyond [−1, 1].")
    sizes = [abs(c) for c in f.coefficients(2 * HIGHEST_DEGREE)]
    radii = [1 + (f.radius - 1) * t / 32 if f.radius < INFINITY else 2 ** (t / 8) for t in range(1, 32)]
    left = min(f.majorant(r) * r ** -len(sizes) / (1 - 1 / r) for r in radii)  # beyond these coefficients
    for degree in range(len(sizes) - 1, -1, -1):
        if left > epsilon / 2 or left + sizes[degree] > epsilon / 2:
            break
        left += sizes[degree]
    if degree > HIGHEST_DEGREE:
        raise InputError(f"φ needs a Taylor polynomial of degree {degree}; use a larger epsilon.")
    return degree


@BEYOND_TWO_LAYERS.states(
    "Lemma 6.3",
    "Lemma 6.3: the size of a function h of a random neuron whose mean is φ",
    "indicator-to-function",
    phi=Argument("function φ: a formula in z, such as tanh(z)"),
    epsilon=Argument("accuracy ε", low=0.0, high=1.0, strict=True),
    gate=Argument("choice of gates, window as in the paper or least"),
)
def indicator_to_function(phi: str, epsilon: float = 1e-3, gate: Gate = "window") -> Found:
    """Lemma 6.3 for a given φ: the root mean square of h, its error in the mean, and the paper's bounds.

    Args:
        phi: The function, as `function_from_text` reads it.
        epsilon: ε.
        gate: Which gates.
    """
    if gate not in ("window", "least"):
        raise InputError(f"gate is {gate!r}, but must be window or least.")
    series = function_from_text(phi)
    degree = taylor_degree(series, epsilon)
    coefficients = [float(c) for c in series.coefficients(degree + 1)]
    if not all(map(math.isfinite, coefficients)):
        raise InputError(f"φ = {phi} has a Taylor coefficient too large for a float; scale it down.")
    h = gated_hermite(coefficients, gate, epsilon)
    z = torch.linspace(-1, 1, 9, dtype=torch.float64)
    exact = torch.tensor(
        [_polynomial(series.coefficients(3 * degree + 20), each) for each in z.tolist()], dtype=z.dtype
    )
    error = float((expectation(h, z) - exact).abs().max())
    size = math.sqrt(h.mean_square)
    largest = h.log_largest / math.log(10)
    of_size = c_s(phi, power=TWO_LAYER_POWER, degree=degree)
    of_largest = c_epsilon(phi, epsilon, degree=degree)
    holds = error <= epsilon and size <= of_size.value and largest <= (of_largest.log10 or -math.inf)
    return Found(
        size,
        formula="√E[h(α,b)²], where E[I[zα + √(1−z²)β + b ≥ 0] h(α,b)] = φ(z)",
        filled=f"√E[h²] = {size:.6g} for the Taylor polynomial of degree {degree}",
        terms={
            "degree": degree,
            "largest error in the mean on [-1, 1]": error,
            "log10 bound on |h|": largest,
            "C_s(φ, 1)": of_size.value,
            "log10 C_ε(φ, 1)": of_largest.log10 or -math.inf,
        },
        holds=holds,
        notes=(
            f"The mean differs from φ by at most {error:.2g} at 9 points of [−1, 1], by quadrature; ε is "
            f"{epsilon:g}.",
            f"√E[h²] is {size:.4g}, and the lemma allows C_s(φ, 1) = {of_size.value:.4g}.",
            f"|h| is at most 10^{largest:.1f}, and the lemma allows C_ε(φ, 1) = 10^{of_largest.log10:.1f}.",
        ),
        constants=of_size.constants,
        error=error,
    )


def _polynomial(coefficients: Sequence[float], z: float) -> float:
    value = 0.0
    for c in reversed(coefficients):
        value = value * z + float(c)
    return value


QUANTITIES = entries(indicator_to_function)
