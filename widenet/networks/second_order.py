"""The second-order tangent kernel: what W and V can do together while the signs stay as they are.

With frozen signs a network is a polynomial in its weights (`widenet.networks.pseudo`). Its part of second
order in steps W', V' from `start` is bilinear: A D_v V' D_w W'x̃ of three layers, A D_v V' A D_w W'x̃ of the
ResNet, with x̃ = (x, 1) [beyond-two-layers, remark 6.1; resnet-beyond-kernels, section 6.1]. Its features are
the coefficients of all V'_{ic} W'_{jl}, and they factor over the three sums, so that their Gram matrix needs
no features.
"""

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.fully_connected import ThreeLayers
from widenet.networks.network import Parameters, with_ones
from widenet.networks.pseudo import Real, frozen_signs
from widenet.networks.resnet import ResNet


def second_order_gram(network: Real, start: Parameters, X: Tensor, Z: Tensor | None = None) -> Tensor:
    """Gram matrix of the bilinear part's features, shape (n·k, n'·k), rows ordered as in `tangent_gram`.

    Its entry (i·k + r, j·k + q) is (Σ_s A_rs A_qs D_v,s(x_i) D_v,s(z_j)) · (Σ_s a_s D_w,s(x_i) D_w,s(z_j)) ·
    ⟨x̃_i, z̃_j⟩, where a_s = 1 for three layers and ‖A_{·s}‖² for the ResNet, and x̃ = x with fixed biases.
    Added to `tangent_gram` of the hidden layers it is the kernel of all monomials of the pseudo network in W'
    and V'.

    Args:
        network: Three layers or the ResNet; two layers have no second order.
        start: Weights at which the signs are frozen, shapes (1, …).
        X: Inputs, shape (n, d).
        Z: Inputs, shape (n', d); X where None.
    """
    if not isinstance(network, ThreeLayers | ResNet):
        raise InputError(f"With frozen signs {network.name} is linear in W and has no second order.")
    A = start["A"][0]
    Z = X if Z is None else Z
    (first_x, second_x), (first_z, second_z) = (_signs(network, start, rows) for rows in (X, Z))
    weights = A.square().sum(0) if isinstance(network, ResNet) else torch.ones_like(A[0])
    inputs_x, inputs_z = (X, Z) if getattr(network, "fixed_biases", False) else (with_ones(X), with_ones(Z))
    of_first = (first_x * weights) @ first_z.T * (inputs_x @ inputs_z.T)
    left, right = (second[:, None, :] * A for second in (second_x, second_z))  # (n, k, m)
    of_second = left.flatten(0, 1) @ right.flatten(0, 1).T
    k = len(A)
    gram = of_second.view(len(X), k, len(Z), k) * of_first[:, None, :, None]
    return gram.view(len(X) * k, len(Z) * k)


def _signs(network: Real, start: Parameters, X: Tensor) -> tuple[Tensor, Tensor]:
    signs = frozen_signs(network, start, X)
    return signs["first"][0], signs["second"][0]
