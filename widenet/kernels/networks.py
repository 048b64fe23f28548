"""Tangent kernels of infinitely wide networks: compositions of layers, and the three-layer ResNet."""

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.layers import Dense, Layer, Relu, Residual
from widenet.kernels.moments import Diagonal, Moments, OfMoments

Trained = Literal["all", "hidden", "last"]


class Serial(OfMoments):
    """The tangent kernel Θ(x, z) = Σ_trained weights ⟨∂f(x), ∂f(z)⟩ of a composition of layers, width → ∞.

    Which Dense layers are trained is part of the kernel: `last` the one that comes last, so that Θ is the
    conjugate kernel E σ(u(x))σ(u(z)) times its weight_var; `hidden` all others; `all` both, so the sum.
    `Serial(Dense(), Relu(), Dense(), trained="hidden")` is H∞ of [fine-grained, equation 3].

    >>> kernel = Serial(Dense(), Relu(), Dense(bias_var=0.1))
    >>> kernel.diag(torch.tensor([[1.0, 0.0]]))  # ½ from W, and ½ + 0.1 from the last layer
    tensor([1.1000])
    """

    def __init__(self, *layers: Layer, trained: Trained = "all", name: str | None = None) -> None:
        if not layers or not isinstance(layers[0], Dense) or not isinstance(layers[-1], Dense | Residual):
            raise InputError(
                "A Serial kernel must begin with a Dense layer and end with one or with a Residual."
            )
        num_dense = sum(layer.num_dense for layer in layers)
        self.layers = layers
        self.trained = trained
        self.name = name or f"Serial({', '.join(map(repr, layers))}, trained={trained!r})"
        self._is_trained = [_is_trained(trained, is_last=i == num_dense - 1) for i in range(num_dense)]

    def __repr__(self) -> str:
        return self.name

    def _value(self, moments: Moments) -> Tensor:
        return _ntk(apply_layers(self.layers, moments, self._is_trained))


class ResNet3(OfMoments):
    """The tangent kernel of out = out1 + A σ(V(out1, 1)), out1 = A σ(W(x, 1)) [resnet-beyond-kernels, (2.1)].

    The limit has W, A and V of standard normal entries divided by 1, √m and √k (the bias column of V by 1):
    first m → ∞, then the number of outputs k → ∞, since for a fixed k the kernel stays random, a function of
    the out1 drawn. `hidden` trains W and V, `last` trains A, `all` both.

    A is used twice. Up to one term this is the kernel of the same network with two independent matrices
    in place of A: the gradient through out1 passes V, whose entries are independent of A. The term is the
    overlap of the two hidden layers that A multiplies, h1 = σ(W(x,1)) and h2 = σ(V(out1,1)): ReLU has a
    positive mean, so ⟨h1(x), h2(z)⟩/m → E h1(x) E h2(z) = √(Σ1(x,x) Σ2(z,z))/2π, not 0. It enters
    the gradient by A, and the covariance of the outputs, in both orders.
    """

    layers = (Dense(bias_var=1.0), Relu(), Dense(), Residual(Dense(bias_var=1.0), Relu(), Dense()))

    def __init__(self, trained: Trained = "all") -> None:
        hidden, last = _is_trained(trained, is_last=False), _is_trained(trained, is_last=True)
        self.trained = trained
        self.name = f"resnet3-{trained}"
        self._is_trained = [hidden, last, hidden, last]

    def __repr__(self) -> str:
        return self.name

    def _value(self, moments: Moments) -> Tensor:
        means_x, means_z = self._means(moments.diag_x), self._means(moments.diag_z)
        ntk = _ntk(apply_layers(self.layers, moments, self._is_trained))
        if self.trained != "hidden":
            ntk += means_x[0] * means_z[1] + means_x[1] * means_z[0]
        return ntk

    @staticmethod
    def _means(norms: Diagonal) -> tuple[Diagonal, Diagonal]:
        """E h1 and E h2 of inputs of the given squared norms; E σ(u) = √(E u²/2π)."""
        first = norms + 1
        second = first / 2 + 1
        return (first / (2 * math.pi)) ** 0.5, (second / (2 * math.pi)) ** 0.5


def apply_layers(layers: tuple[Layer, ...], moments: Moments, is_trained: list[bool]) -> Moments:
    """Moments of the last layer's units from those of the inputs."""
    trained = iter(is_trained)
    for layer in layers:
        moments = layer(moments, trained)
    return moments


def _ntk(moments: Moments) -> Tensor:
    return torch.zeros_like(moments.nngp) if moments.ntk is None else moments.ntk


def _is_trained(trained: Trained, *, is_last: bool) -> bool:
    if trained not in get_args(Trained):
        raise InputError(f"trained is {trained!r}, but must be one of all, hidden, last.")
    return trained == "all" or (trained == "last") == is_last
