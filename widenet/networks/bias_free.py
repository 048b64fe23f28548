"""The two-layer network of [resnet-beyond-kernels, section 8.2], and nets that solve its problem.

The problem is the parity of six of d signs: inputs x uniform on {±1/√d}^d, y = d³ x_1 x_2 x_3 x_4 x_5 x_6. A
net that solves it at width m₀ and d = 6 solves it at every larger width and d with the same ‖W‖_F/√d
(footnote 16): `padded` makes it, and `parity_error` is its error over all inputs.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.network import (
    Layered,
    OuterProduct,
    Parameters,
    Tape,
    add_outer,
    hidden_values,
    network_outputs,
    output_slopes,
    shared,
    with_ones,
)
from widenet.networks.relu import active_slopes, pass_slopes, relu_

NUM_SIGNS = 6  # of the parity


@dataclass(frozen=True)
class BiasFreeTwoLayers(Layered):
    """F = A σ(W x) with W (m, d), A (k, m), and no bias.

    With the initialisation `signed` and W alone trained (`hidden`) it is F(W; x) = aᵀσ(Wx), a ∈ {±1/√m} with
    as many of each sign [resnet-beyond-kernels, section 8.2].
    """

    architecture = "2layer-biasfree"
    inner = ("W",)
    hidden = ("first",)

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return {"W": (self.width, d), "A": (k, self.width)}

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A, inputs = params["A"], shared(X[..., :-1], len(params["A"]))
        relu_(torch.bmm(inputs, params["W"].mT, out=tape["first"]))
        torch.bmm(A, tape["first"].mT, out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A, first = params["A"], tape["first"]
        if "A" in sums:
            sums["A"].baddbmm_(slopes.mT, first, beta=keep)
        if "W" in sums:
            inner = pass_slopes(torch.bmm(slopes, A, out=tape["first slopes"]), first)
            add_outer(sums["W"], inner, shared(X[..., :-1], len(A)).mT, keep)

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        A, first = params["A"][0], hidden_values(self, params, with_ones(X))["first"][0]
        return {
            "W": (OuterProduct(active_slopes(A, first), X),),
            "A": (OuterProduct(output_slopes(A, len(X)), first),),
        }


def padded(params: Parameters, width: int, d: int) -> Parameters:
    """The same function of the first d₀ coordinates, as a net of a larger width and on {±1/√d}^d.

    Columns of zeros are appended, and W is multiplied by √(d/d₀) since the coordinates of the inputs are
    smaller by as much. Neuron i becomes c_i neurons of its sign, each √(m/m₀)/c_i times as long
    [resnet-beyond-kernels, footnote 16]. Where m is a multiple of m₀ all c_i are m/m₀, and ‖W‖_F/√d stays as
    it was. Otherwise the longest neurons of each sign get one copy more than the others; the squared norm of
    neuron i's copies is (m/m₀)/c_i times its own.

    Args:
        params: One copy with one output, W (1, m₀, d₀) and A (1, 1, m₀) of entries ±1/√m₀, half of each sign.
        width: m, even and at least m₀.
        d: At least d₀.

    Returns:
        W (1, m, d) and A (1, 1, m) of entries ±1/√m, half of each sign.
    """
    W, a = params["W"][0], params["A"][0, 0]
    m0, d0 = W.shape
    if width < m0 or width % 2 or d < d0:
        raise InputError(
            f"A net of {m0} neurons on {d0} coordinates has larger ones of an even width from {m0} on and at "
            f"least {d0} coordinates, not of {width} neurons on {d}."
        )
    if params["A"].shape[:2] != (1, 1) or 2 * int((a > 0).sum()) != m0:
        raise InputError("Only one copy with one output and as many a > 0 as a < 0 can be made wider.")
    counts = torch.empty(m0, dtype=torch.long)
    for of_sign in (a > 0, a < 0):
        counts[of_sign] = _even_counts(W[of_sign].norm(dim=1), width // 2)
    wide = W.new_zeros(width, d)
    scales = math.sqrt(d / d0 * width / m0) / counts.to(W.dtype)
    wide[:, :d0] = (scales[:, None] * W).repeat_interleave(counts, dim=0)
    return {"W": wide[None], "A": (a.sign() / math.sqrt(width)).repeat_interleave(counts)[None, None]}


def _even_counts(lengths: Tensor, total: int) -> Tensor:
    """Numbers as equal as can be that sum to `total`, the larger ones where `lengths` (p,) is largest."""
    counts = torch.full(lengths.shape, total // len(lengths))
    counts[lengths.argsort(descending=True)[: total % len(lengths)]] += 1
    return counts


def sign_points(num_signs: int, d: int) -> Tensor:
    """All points of {±1/√d}^num_signs, float64, shape (2^num_signs, num_signs)."""
    signs = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    return torch.cartesian_prod(*(signs for _ in range(num_signs))) / math.sqrt(d)


def parity_error(params: Parameters) -> float:
    """E|F(W; x) − y|² of a net that sees the six coordinates of the parity alone, exactly.

    The expectation over {±1/√d}^d is the mean over 2⁶ points, as other coordinates do not enter.

    Args:
        params: One copy with one output, W (1, m, d) and A (1, 1, m); columns of W beyond the sixth are 0.
    """
    W = params["W"][0].double()
    if bool(W[:, NUM_SIGNS:].any()):
        raise InputError("This net sees more than six coordinates: measure its error on test rows instead.")
    X = sign_points(NUM_SIGNS, d=W.shape[1])
    seen = {"W": W[None, :, :NUM_SIGNS], "A": params["A"].double()}
    out = network_outputs(BiasFreeTwoLayers(len(W), "hidden"), seen, X)[0, :, 0]
    return float((out - X.sign().prod(dim=1)).square().mean())
