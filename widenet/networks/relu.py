"""The ReLU and its derivative, in place: what every layer of the papers' networks is followed by."""

import torch
from torch import Tensor


def relu_(Z: Tensor) -> Tensor:
    """σ(z) = max(z, 0), in place."""
    return Z.clamp_(min=0)


def pass_slopes(slopes: Tensor, values: Tensor) -> Tensor:
    """Let slopes pass where the neuron was active, in place.

    Args:
        slopes: Derivatives with respect to σ(z).
        values: σ(z), same shape. The papers take the derivative 1 at z = 0; the values cannot tell such a z
            from a negative one, and it gets 0 here. It occurs with probability 0 for Gaussian weights.
    """
    return torch.ops.aten.threshold_backward.grad_input(slopes, values, 0, grad_input=slopes)


def active_slopes(slopes: Tensor, values: Tensor) -> Tensor:
    """Slopes (k, m) or (n, k, m) where the neurons with values σ(z) (n, m) were active, shape (n, k, m)."""
    return slopes * (values > 0)[:, None, :]
