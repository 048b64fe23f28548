"""The two-layer ReLU network whose hidden layer alone is trained [fine-grained, section 3.1].

The network has one output. Targets with several columns are several networks, one for each column with
weights of its own: then every column follows the dynamics of the same H∞, as the theory has it. Outputs that
share W would be coupled by the finite width.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError


@dataclass(frozen=True)
class FineGrainedNet:
    """Parameters of f(x) = m^{-1/2} Σ_r a_r σ(w_r^T x), σ(z) = max(z, 0).

    Attributes:
        W: First-layer weights, the trained ones, one neuron a row, shape (m, d).
        a: Second-layer signs, fixed, each ±1, shape (m,).
    """

    W: Tensor
    a: Tensor

    @property
    def width(self) -> int:
        """Number of neurons m."""
        return self.W.shape[0]


def draw_fine_grained(
    width: int,
    d: int,
    kappa: float,
    *,
    generator: torch.Generator,
    antisymmetric: bool = False,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
) -> FineGrainedNet:
    """Draw w_r ~ N(0, κ²I) and a_r uniform on ±1 [fine-grained, equation (1)].

    An antisymmetric network has neurons in pairs (r, r + m/2) of the same weights and opposite signs. Its
    output at initialisation is zero for every input, whatever κ, up to the rounding of its sum; its H(0) is
    that of width/2 independent neurons.

    The draw is made in float64 on the CPU, then rounded and moved, so that one seed gives one network in
    every dtype and on every device.
    """
    if antisymmetric and width % 2:
        raise InputError(f"An antisymmetric network pairs its neurons, so its width {width} must be even.")
    num_drawn = width // 2 if antisymmetric else width
    W = kappa * torch.randn(num_drawn, d, generator=generator, dtype=torch.float64)
    a = 2.0 * torch.randint(2, (num_drawn,), generator=generator).to(torch.float64) - 1.0
    if antisymmetric:
        W, a = torch.cat([W, W]), torch.cat([a, -a])
    return FineGrainedNet(W=W.to(device, dtype), a=a.to(device, dtype))


def activations(params: FineGrainedNet, X: Tensor) -> Tensor:
    """Whether each neuron passes each input, I[w_r^T x_i ≥ 0], shape (n, m), boolean.

    This is the derivative of the ReLU, taken to be 1 at 0 as in the paper.
    """
    return X @ params.W.T >= 0


def fine_grained_outputs(params: FineGrainedNet, X: Tensor) -> Tensor:
    """Values u_i = f(x_i) for the rows of X (n, d), shape (n,)."""
    return (X @ params.W.T).clamp(min=0) @ params.a / math.sqrt(params.width)


def fine_grained_gradient(params: FineGrainedNet, X: Tensor, y: Tensor) -> Tensor:
    """Gradient in W of Φ = ½ Σ_i (y_i − u_i)² [fine-grained, equation (5)], shape (m, d)."""
    residual = fine_grained_outputs(params, X) - y
    backward = activations(params, X) * residual[:, None] * params.a
    return backward.T @ X / math.sqrt(params.width)


def finite_gram(params: FineGrainedNet, X: Tensor) -> Tensor:
    """The finite-width Gram matrix H(k) at the current weights, shape (n, n).

    H_ij = x_i^T x_j m^{-1} Σ_r I[w_r^T x_i ≥ 0] I[w_r^T x_j ≥ 0] [fine-grained, section 3.4]. Its mean over
    Gaussian weights is H∞.
    """
    active = activations(params, X).to(X.dtype)
    return (X @ X.T) * (active @ active.T) / params.width
