"""Tangent kernels of networks of finite width, at the weights that they have.

The gradient of one output at one row by one layer's weights is an outer product: what comes down to the units
of the layer, times what went into them. Inner products of outer products are products of inner products, so a
Gram matrix needs neither the gradients nor room for them: n²m operations for a layer of m² weights, not n²m².

At large width and with one output, weights drawn by `experiment` (every one N(0, 1/m)) have these limits,
where x̃ = (x, 1) and Θ is a kernel of `widenet.kernels`:
    2layer: Θ of relu2 at x̃, z̃, with the same layers trained.
    3layer: Θ of Serial(Dense(bias_var=1), Relu(), Dense(bias_var=1), Relu(), Dense()) at x, z.
    3resnet: out₁ vanishes as m^{-1/2}, so the second layer sees its biases alone: `hidden` is relu2-hidden at
        x̃, z̃ plus ½, and `last` is relu2-last at x̃, z̃ plus (‖x̃‖ + ‖z̃‖)/2π + ½. ResNet3 is the limit of
        another initialisation, in which V keeps its scale, and needs k → ∞ as well.
Where a layer's weights have another variance v, its share of the kernel is that of the standard normal
parametrisation divided by v.
"""

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.networks.network import Network, OuterProduct, Parameters, with_ones

PIECE_ENTRIES = 2**22  # of the Gram matrix that are worked on at a time


def jacobian(network: Network, params: Parameters, X: Tensor) -> Tensor:
    """Derivatives of the outputs by the parameters that are moved, shape (n, k, P).

    Every row is the only one of a copy of its own, so that the sums of the backward pass are its gradient.

    Args:
        network: Any network.
        params: One copy, shapes (1, …).
        X: Inputs, shape (n, d).

    Returns:
        The parameters follow each other along the last axis in the order of `network.moved`, each flattened;
        derivatives by biases that are fixed are 0.
    """
    k, n = _outputs_of_one_copy(params), len(X)
    sizes = [params[name].numel() for name in network.moved]
    require_memory(n * k * sum(sizes) * X.element_size(), "The Jacobian of this network")
    J = X.new_empty(n, k, sum(sizes))
    rows = with_ones(X)[:, None]
    copies = {name: part.expand(n, *part.shape[1:]) for name, part in params.items()}
    for r in range(k):
        tape = network.tape(copies, 1)
        slopes = torch.zeros_like(network.forward(copies, rows, tape))
        slopes[..., r] = 1
        pieces = zip(network.moved, J[:, r].split(sizes, dim=1), strict=True)
        sums = {name: piece.unflatten(1, params[name].shape[1:]) for name, piece in pieces}
        network.backward(copies, rows, tape, slopes, sums, 0.0)
    return J


def tangent_gram(network: Network, params: Parameters, X: Tensor, Z: Tensor | None = None) -> Tensor:
    """The tangent kernel of this network at these weights, shape (n·k, n'·k).

    Its entry (i·k + r, j·k + q) is ⟨∂f_r(x_i), ∂f_q(z_j)⟩ over the parameters that are moved: J(X) J(Z)ᵀ,
    without J. The share of every layer is (slopes slopesᵀ) ∘ (inputs inputsᵀ), a piece of rows at a time.
    Arguments are those of `jacobian`, with other inputs Z (n', d) for the columns; X where None.
    """
    k, n, num_columns = _outputs_of_one_copy(params), len(X), len(X if Z is None else Z)
    of_factors = (n + num_columns) * 2 * (k + 2) * network.width
    num_entries = n * k * num_columns * k + of_factors + 2 * PIECE_ENTRIES
    require_memory(num_entries * X.element_size(), "The tangent kernel of this network")
    left = network.gradient_factors(params, X)
    right = left if Z is None else network.gradient_factors(params, Z)
    gram = X.new_zeros(n, k, num_columns, k)
    for name in network.moved:
        for first in left[name]:
            for second in right[name]:
                _add_products(gram, first, second)
    return gram.view(n * k, num_columns * k)


def _add_products(gram: Tensor, left: OuterProduct, right: OuterProduct) -> None:
    """Add ⟨slopes, slopes'⟩⟨inputs, inputs'⟩ of all pairs to `gram` (n, k, n', k)."""
    n, k, num_columns, _ = gram.shape
    slopes = right.slopes.flatten(0, 1)
    step = max(1, PIECE_ENTRIES // (k * num_columns * k))
    for start in range(0, n, step):
        piece = slice(start, start + step)
        of_slopes = (left.slopes[piece].flatten(0, 1) @ slopes.T).view(-1, k, num_columns, k)
        of_inputs = left.inputs[piece] @ right.inputs.T
        gram[piece].addcmul_(of_slopes, of_inputs[:, None, :, None])


def _outputs_of_one_copy(params: Parameters) -> int:
    """Number of outputs k; refuses more than one copy."""
    num_copies, k, _ = params["A"].shape
    if num_copies != 1:
        raise InputError(f"Tangent kernels are those of one network, but these are {num_copies} copies.")
    return k
