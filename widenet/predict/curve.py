"""Training curves of wide networks under gradient descent, from a spectral measure.

All functions take the measure of the labels: nodes λ_i and weights (v_iᵀy)², columns summed or apart.
"""

import torch
from torch import Tensor

from widenet.spectrum.lanczos import SpectralMeasure

MAX_STEPS = 10**15  # the last step that is looked at
MOST_GROWTH = 350.0  # logarithm at which a growing mode is cut off: its square is still finite in float64


def descent_loss(measure: SpectralMeasure, eta: float, steps: Tensor) -> Tensor:
    """Predicted loss Φ(k) = ½ Σ_i (1 − ηλ_i)^{2k} (v_iᵀy)² [fine-grained, Theorem 4.1].

    Where it diverges (see `descent_diverges`), modes grow up to a factor e^MOST_GROWTH and then stay.

    Args:
        measure: Spectral measure of the labels, weights (k, c).
        eta: Step size η.
        steps: Step numbers k, shape (t,).

    Returns:
        Losses, summed over the label columns, shape (t,).
    """
    return measure.integrate(lambda eigenvalues: _decay(eigenvalues, eta, 2 * steps)).sum(-1) / 2


def descent_distance(measure: SpectralMeasure, eta: float, steps: Tensor) -> Tensor:
    """Predicted ‖W(k) − W(0)‖_F = √Σ_i ((1 − (1 − ηλ_i)^k)² / λ_i) (v_iᵀy)², shape (t,).

    This is the auxiliary sequence (11) of [fine-grained, Section 5.2]; it tends to √(yᵀH⁻¹y).
    """

    def squared(eigenvalues: Tensor) -> Tensor:
        travelled = (1 - _decay(eigenvalues, eta, steps)).square()
        # What cannot be fitted moves nothing.
        return torch.where(eigenvalues > 0, travelled / eigenvalues, 0.0)

    return measure.integrate(squared).sum(-1).sqrt()


def descent_diverges(measure: SpectralMeasure, eta: float) -> bool:
    """Whether the prediction grows without bound: a mode that the labels use has ηλ > 2.

    >>> measure = SpectralMeasure(torch.tensor([1.0, 4.0]), torch.tensor([[1.0], [1e-9]]))
    >>> descent_diverges(measure, eta=0.5), descent_diverges(measure, eta=0.51)
    (False, True)
    """
    return bool(((eta * measure.nodes > 2) & (measure.weights > 0).any(-1)).any())


def steps_until(measure: SpectralMeasure, eta: float, share: float) -> int | None:
    """The first step at which the loss is at most `share` of the initial one; None if beyond reach.

    The loss falls monotonically for every η < 2/λ_max, so bisection finds the step.

    >>> nodes = torch.tensor([0.01, 1.0], dtype=torch.float64)
    >>> measure = SpectralMeasure(nodes, torch.full((2, 1), 0.5, dtype=torch.float64))
    >>> steps_until(measure, eta=0.5, share=0.1)  # ½ (1 − 0.005)^{2k} ≤ 0.1
    161
    """

    def reached(step: int) -> bool:
        return float(descent_loss(measure, eta, torch.tensor([float(step)], dtype=torch.float64))) <= target

    target = share * float(measure.weights.sum()) / 2
    if not reached(MAX_STEPS):
        return None
    before, after = -1, 1
    while not reached(after):
        before, after = after, 2 * after
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (before, middle) if reached(middle) else (middle, after)
    return after


def step_grid(last: int, num_points: int = 120) -> Tensor:
    """Whole step numbers from 0 to `last`, evenly spread on a logarithmic scale, float64."""
    exponents = torch.linspace(0, 1, num_points, dtype=torch.float64)
    return torch.unique(torch.cat([torch.zeros(1, dtype=torch.float64), (float(last) ** exponents).round()]))


def _decay(eigenvalues: Tensor, eta: float, powers: Tensor) -> Tensor:
    """(1 − ηλ)^powers, shape (t, k), without losing digits where ηλ is tiny and the power huge."""
    rate = eta * eigenvalues
    overshoot = rate > 1  # then the mode changes sign at every step
    logarithm = torch.log1p(-torch.where(overshoot, 2 - rate, rate))
    exponent = torch.where(powers[:, None] == 0, 0.0, powers[:, None] * logarithm)  # 0⁰ = 1
    magnitude = torch.exp(exponent.clamp(max=MOST_GROWTH))
    return torch.where(overshoot & (powers[:, None] % 2 == 1), -magnitude, magnitude)
