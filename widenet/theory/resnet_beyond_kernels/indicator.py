"""Functions out of indicators without a bias [resnet-beyond-kernels, Lemma E.2].

It is Lemma 6.3 of `beyond-two-layers` at the bias b = 0: with α = ⟨w, x⟩, α₁ = ⟨w, w*⟩ and z = ⟨w*, x⟩,

    E[h_i(α₁) I[α ≥ 0]] = zⁱ p_i,   p_0 = ½,   p_i = h_{i−1}(0) ϕ(0),

which is 0 for even i > 0: only functions with a constant and odd powers can be made. For odd i it is
(−1)^{(i−1)/2} (i−2)!!/√(2π). So h(α₁) = 2c_0 + Σ_{odd i} (c_i/p_i) h_i(α₁) has the mean φ(z).

Claim E.3 prints |p_i| ≥ (i−1)!!/4, which fails from i = 3 on. The lemma does not need it: E[h²] is then of
the order Σ i^{3/2} c_i² in place of Σ i^{1/2} c_i², still below C_s².
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.hermite import (
    CLAMP_DEGREE,
    CLAMP_EPSILON,
    FARTHEST,
    gated_means,
    hermite,
    legendre,
    log_hermite,
    normal_density,
    taylor_degree,
)
from widenet.theory.demand import Demand
from widenet.theory.entry import Argument
from widenet.theory.numbers import mpf
from widenet.theory.resnet_beyond_kernels.symbols import RESNET
from widenet.theory.smooth.complexity import RESNET_POWER, c_epsilon, c_s
from widenet.theory.smooth.functions import PowerSum, function_from_text, power_sum
from widenet.theory.stated import Found, entries

ODD_PHI = Argument("function φ with a constant and odd powers only: a formula in z, such as sin(z)")
POINTS = 9  # of [−1, 1] at which a mean is computed


@dataclass(frozen=True)
class OddHermite:
    """h(α) = 2c_0 + Σ_{odd i} (c_i/p_i) h_i(α), each h_i constant beyond ±B_i as in the paper's proof.

    Attributes:
        coefficients: c_i of φ(z) = Σ_i c_i zⁱ, 0 for even i > 0.
        epsilon: ε in B_i = 100√i + 10√log(1/ε) [claim E.4].
    """

    coefficients: tuple[float, ...]
    epsilon: float = 1e-6

    @cached_property
    def gains(self) -> dict[int, float]:
        """√i! c_i/p_i by i, where c_i is not 0."""
        shares = gated_means(torch.zeros((), dtype=torch.float64), len(self.coefficients) - 1).tolist()
        return {i: c / shares[i] for i, c in enumerate(self.coefficients) if c}

    def clamp(self, i: int) -> float:
        """B_i."""
        return CLAMP_DEGREE * math.sqrt(i) + CLAMP_EPSILON * math.sqrt(math.log(1 / self.epsilon))

    def __call__(self, alpha: Tensor) -> Tensor:
        """h(α), elementwise."""
        values = torch.zeros_like(alpha)
        for i, gain in self.gains.items():
            values += gain * hermite(alpha.clamp(-self.clamp(i), self.clamp(i)), i)[i]
        return values

    @property
    def mean_square(self) -> float:
        """E[h(α)²] without the clamps: the h_i are orthogonal."""
        return sum(gain**2 for gain in self.gains.values())

    @property
    def log_largest(self) -> float:
        """The logarithm of Σ_i |c_i/p_i| |h_i(B_i)|, a bound on |h|; −∞ for φ = 0."""
        return _log_sum(math.log(abs(g)) + log_hermite(self.clamp(i), i) for i, g in self.gains.items())

    @property
    def log_steepest(self) -> float:
        """The logarithm of Σ_i |c_i/p_i| |h_i′(B_i)|, a bound on |h′|, by h_i′ = i h_{i−1}."""
        return _log_sum(
            math.log(abs(g) * math.sqrt(i)) + log_hermite(self.clamp(i), i - 1)
            for i, g in self.gains.items()
            if i
        )


def odd_hermite(coefficients: Sequence[float], epsilon: float = 1e-6) -> OddHermite:
    """Lemma E.2's h for φ(z) = Σ_i c_i zⁱ, which must have no even powers but the constant."""
    even = [i for i in range(2, len(coefficients), 2) if coefficients[i]]
    if even:
        raise InputError(
            f"φ has the power {even[0]}, but without a bias only a constant and odd powers can be made; "
            "Lemma A.2 (resnet-lemma-a.2) splits φ into two such functions."
        )
    return OddHermite(tuple(float(c) for c in coefficients), epsilon)


def unbiased_expectation(h: Callable[[Tensor], Tensor], z: Tensor, degree: int) -> Tensor:
    """E[I[α ≥ 0] h(zα + √(1−z²)β)] by quadrature over α and β, for each z in [−1, 1].

    Args:
        h: A polynomial of this degree within the reach of a Gaussian.
        z: Shape (points,).
        degree: Of h.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(degree // 2 + 2)
    beta, beta_weights = torch.from_numpy(nodes), torch.from_numpy(weights / math.sqrt(2 * math.pi))
    alpha, alpha_weights = legendre(0.0, FARTHEST, 64 + 2 * degree)
    mass = (alpha_weights * normal_density(alpha))[:, None] * beta_weights
    across = (1 - z.square()).clamp(min=0).sqrt()
    values = h(z[:, None, None] * alpha[:, None] + across[:, None, None] * beta)
    return (mass * values).sum((1, 2))


@RESNET.states(
    "Lemma E.2",
    "A function h of a random neuron without bias whose mean is φ: its size",
    phi=ODD_PHI,
    epsilon=Argument("accuracy ε", low=0.0, high=1.0, strict=True),
)
def lemma_e_2(phi: str, epsilon: float = 1e-6) -> Found:
    """Root mean square of h, its largest error in the mean, and the bounds that the lemma has for both."""
    h, degree, function = odd_function(phi, epsilon)
    z = torch.linspace(-1, 1, POINTS, dtype=torch.float64)
    error = float((unbiased_expectation(h, z, degree) - function(z)).abs().max())
    size, largest, steepest = math.sqrt(h.mean_square), h.log_largest, h.log_steepest
    of_size = c_s(phi, power=RESNET_POWER, degree=degree)
    of_largest = c_epsilon(phi, epsilon, degree=degree).log10
    limit = -math.inf if of_largest is None else of_largest
    largest, steepest = largest / math.log(10), steepest / math.log(10)
    return Found(
        size,
        formula="√E[h(α)²], where E[I[zα + √(1−z²)β ≥ 0] h(α)] = φ(z)",
        filled=f"√E[h²] = {size:.6g} for the Taylor polynomial of degree {degree}",
        terms={
            "degree": degree,
            "largest error in the mean on [-1, 1]": error,
            "log10 bound on |h|": largest,
            "log10 bound on |h′|": steepest,
            "C_s(φ, 1)": of_size.value,
            "log10 C_ε(φ, 1)": limit,
        },
        demands=(
            Demand("ε", epsilon, "<", 1 / mpf(of_size.value) if of_size.value else math.inf, "1/C_s(φ,1)"),
        ),
        holds=error <= epsilon and size <= of_size.value and max(largest, steepest) <= limit,
        notes=(
            f"The mean differs from φ by at most {error:.2g} at {POINTS} points of [−1, 1], by quadrature; ε "
            f"is {epsilon:g}.",
            f"√E[h²] is {size:.4g}, and the lemma allows C_s(φ, 1) = {of_size.value:.4g}.",
            f"|h| is at most 10^{largest:.1f} and |h′| at most 10^{steepest:.1f}; the lemma allows "
            f"C_ε(φ, 1) = 10^{limit:.1f}.",
            "Claim E.3 prints |p_i| ≥ (i−1)!!/4, but |p_i| is (i−2)!!/√(2π), less than that from i = 3 on; "
            "the bound on √E[h²] holds all the same.",
        ),
        constants=of_size.constants,
        error=error,
    )


def odd_function(phi: str, epsilon: float) -> tuple[OddHermite, int, PowerSum]:
    """H for a function, the degree at which its Taylor series is cut, and φ itself by many more terms."""
    series = function_from_text(phi)
    degree = taylor_degree(series, epsilon)
    coefficients = tuple(float(c) for c in series.coefficients(3 * degree + 20))
    if not all(map(math.isfinite, coefficients)):
        raise InputError(f"φ = {phi} has a Taylor coefficient too large for a float; scale it down.")
    return odd_hermite(coefficients[: degree + 1], epsilon), degree, power_sum(coefficients)


def _log_sum(logs: Iterable[float]) -> float:
    found = list(logs)
    return float(np.logaddexp.reduce(found)) if found else -math.inf


QUANTITIES = entries(lemma_e_2)
