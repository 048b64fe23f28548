"""What a network is to the code that trains it.

Parameters carry a leading axis of s copies, which are trained side by side: copy i of every tensor belongs to
network i, and no operation mixes copies. Gradients are written by hand and end in the caller's tensors.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, get_args

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.networks import Trained

Parameters = dict[str, Tensor]
Tape = dict[str, Tensor]

FIRST = "W"  # the first hidden layer
SECOND = ("V", "U")  # the second hidden layer, by the name that a network gives it
ALIGNED = 4  # entries: 16 bytes in float32


@dataclass(frozen=True)
class OuterProduct:
    """Gradients of all outputs at all rows by one matrix of weights: slopes at its units times its inputs."""

    slopes: Tensor  # derivatives of each output by the units of the layer, shape (n, k, m)
    inputs: Tensor  # what went into them, shape (n, p)


class Network(Protocol):
    """An architecture of one width, with the choice of layers that are trained; a frozen dataclass.

    Its fields, with its name, tell apart the runs that a store keeps.
    """

    @property
    def name(self) -> str:
        """The name that `network_by_name` takes."""

    @property
    def width(self) -> int:
        """Neurons m of each hidden layer."""

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the parameters that training moves."""

    @property
    def hidden(self) -> tuple[str, ...]:
        """Where on the tape the values of each hidden layer are left, shapes (s, b, m or more)."""

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        """Shape of each parameter of one copy, for d inputs and k outputs."""

    def tape(self, params: Parameters, b: int) -> Tape:
        """Room for what a forward pass over b rows leaves to the backward pass."""

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        """Outputs of shape (s, b, k) for rows (x, 1) of X, shape (b, d + 1) or (s, b, d + 1)."""

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        """Add the gradient to `keep` times `sums`, for each parameter that is moved.

        Args:
            params: As in the forward pass.
            X: As in the forward pass.
            tape: What the forward pass left there; it is overwritten.
            slopes: Derivatives of the loss with respect to the outputs, shape (s, b, k).
            sums: Tensors of the shapes of the parameters that are moved; with keep = 0 they end as the
                gradient, with keep = μ as the running sum of momentum.
            keep: What is kept of the earlier contents of `sums`.
        """

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        """The gradient by each parameter, moved or not, as a sum of outer products.

        Args:
            params: One copy, shapes (1, …).
            X: Inputs, shape (n, d).
        """


@dataclass(frozen=True)
class Layered:
    """What the papers' networks have in common: layers of one width, of which some are trained.

    Shapes and tape are those of hidden layers that each feed the next one; a network with others overrides
    them.

    Attributes:
        width: Neurons m of each hidden layer.
        trained: `all` layers, the `hidden` ones, or the `last`, A.
        architecture: What the name begins with.
        inner: Names of the parameters of the hidden layers.
        hidden: Where a forward pass leaves their values on the tape.
    """

    width: int
    trained: Trained = "all"
    architecture: ClassVar[str]
    inner: ClassVar[tuple[str, ...]]
    hidden: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"The width of a network must be positive, not {self.width}.")
        if self.trained not in get_args(Trained):
            raise InputError(f"The layers to train are {', '.join(get_args(Trained))}, not {self.trained!r}.")

    @property
    def name(self) -> str:
        return f"{self.architecture}-{self.trained}"

    @property
    def moved(self) -> tuple[str, ...]:
        return {"all": (*self.inner, "A"), "hidden": self.inner, "last": ("A",)}[self.trained]

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        m = self.width
        return {"W": (m, d + 1)} | dict.fromkeys(self.inner[1:], (m, m + 1)) | {"A": (k, m)}

    def tape(self, params: Parameters, b: int) -> Tape:
        A = params["A"]
        s, k, m = A.shape
        tape = {f"{layer} slopes": aligned(A, s, b, m) for layer in self.hidden}
        # All but the last have the column of ones that the biases of the next one multiply.
        tape |= {layer: aligned(A, s, b, m + (layer != self.hidden[-1])) for layer in self.hidden}
        tape["out.T"], tape["out"] = room(A, s, b, k)
        return tape


def with_constant(X: Tensor, constant: float) -> Tensor:
    """Rows (x, constant), shape (..., d + 1)."""
    return torch.cat([X, torch.full_like(X[..., :1], constant)], dim=-1)


def with_ones(X: Tensor) -> Tensor:
    """Rows (x, 1): the constant that biases multiply, shape (..., d + 1)."""
    return with_constant(X, 1.0)


def network_outputs(network: Network, params: Parameters, X: Tensor) -> Tensor:
    """Outputs of every copy for inputs X (n, d), shape (s, n, k)."""
    return network.forward(params, with_ones(X), network.tape(params, X.shape[-2]))


def hidden_values(network: Network, params: Parameters, X: Tensor) -> Parameters:
    """Values of each hidden layer for rows (x, 1) of X, by name, shapes (s, b, m)."""
    tape = network.tape(params, X.shape[-2])
    network.forward(params, X, tape)
    return {name: tape[name][..., : network.width] for name in network.hidden}


def output_slopes(A: Tensor, n: int) -> Tensor:
    """Derivatives of the outputs of a last layer A (k, m) by themselves at n rows, shape (n, k, k)."""
    return torch.eye(len(A), dtype=A.dtype, device=A.device).expand(n, -1, -1)


def shared(X: Tensor, s: int) -> Tensor:
    """Rows X (b, p) of all copies as rows of each, shape (s, b, p), without a copy; others as they are."""
    return X.expand(s, *X.shape) if X.dim() == 2 else X


def aligned(like: Tensor, s: int, p: int, q: int) -> Tensor:
    """Room for s matrices of shape (p, q), each beginning on a multiple of `ALIGNED` entries.

    Products of small matrices depend in their last bits on where in memory these begin. Aligned, a copy is
    computed the same way whatever its place among others.
    """
    size = -(-p * q // ALIGNED) * ALIGNED
    return like.new_ones(s, size)[:, : p * q].unflatten(1, (p, q))


def room(like: Tensor, s: int, b: int, columns: int) -> tuple[Tensor, Tensor]:
    """Room for few values at many rows: (s, columns, b) in memory, and the same as (s, b, columns).

    Matrix products are slow where their last axis in memory is short, and no multiple of a vector register.
    """
    memory = aligned(like, s, columns, b)
    return memory, memory.mT


def laid_out(copies: Tensor) -> Tensor:
    """The parameters (s, p, q) anew, aligned, with the longer axis last in memory as in `room`."""
    s, p, q = copies.shape
    place = aligned(copies, s, q, p).mT if p > q else aligned(copies, s, p, q)
    return place.copy_(copies)


def add_outer(sums: Tensor, slopes: Tensor, inputs_T: Tensor, keep: float) -> None:
    """Add a layer's gradient slopesᵀ inputs, shape (s, m, p), to keep·sums, in place.

    Args:
        sums: Shape (s, m, p); fastest where it lies in memory as (s, p, m), with neurons last.
        slopes: Shape (s, b, m).
        inputs_T: Shape (s, p, b).
        keep: What is kept of `sums`.
    """
    sums.mT.baddbmm_(inputs_T, slopes, beta=keep)
