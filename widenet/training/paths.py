"""Linear models at a size where K is held but not diagonalised: exact paths for up to some 15,000 equations.

`widenet.training.linear` finds every ridge and every time from one eigendecomposition. Here all times
together cost a few hundred products with K: gradient flow lives in the Krylov space of K and Y, which Lanczos
spans. So do ridges, the large ones within the same space; each that is too small for it costs a Cholesky
factorisation, a tenth of an eigendecomposition.

`linear_paths` follows the linear models of a network of finite width. Its errors are means over rows of
‖y − out‖².

    NTK: out = f⁽⁰⁾ + J Δ with Δ the movement of the weights. Fitted to Y − f⁽⁰⁾, with the ridge on ‖Δ‖², and
        f⁽⁰⁾ is added back. K = J Jᵀ has n·k rows.
    conjugate kernel (`last`): out = A h with h the values that A multiplies. Fitted to Y itself from A = 0,
        with the ridge on ‖A‖². Outputs share K = h hᵀ, which has n rows.

SGD on mean_i ½‖y_i − out_i‖² + λ/2 ‖θ‖² ends, for a linear model, in the ridge ρ = nλ on K; s steps of rate η
and momentum μ come as far as gradient flow on ½ Σ_i ‖y_i − out_i‖² in the time t = ηs/((1 − μ)n).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.networks.network import Network, Parameters, network_outputs
from widenet.networks.tangent import tangent_gram
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import Krylov, lanczos
from widenet.training.linear import flow_filters, ridge_filters

TOLERANCE = 1e-8  # of what is read off a Krylov space, relative
MAX_PRODUCTS = 2000  # with K, after which Lanczos gives up
CHECK_GROWTH = 1.15  # of the Krylov space between two looks at its error, each an eigendecomposition
PIECE_ENTRIES = 2**25  # of a kernel between held-out and training rows that are held at a time


@dataclass(frozen=True)
class Projected:
    """Functions of K applied to Y, within the Krylov space of Y, KY, K²Y, ….

    Errors are of f = Kα, relative, in the norm of the functions of this kernel, ‖f‖² = αᵀKα; the largest over
    points and columns. With T = QᵀKQ and Y = Q₁R, α = Q u leaves the residual B u_last: B leads out of the
    space, and u_last is the last block of u.
    """

    krylov: Krylov

    @cached_property
    def ritz(self) -> tuple[Tensor, Tensor, Tensor]:
        """Eigenvalues of T (dimension,), its eigenvectors, and their products with QᵀY (dimension, c)."""
        nodes, vectors = torch.linalg.eigh(self.krylov.tridiagonal())
        start = self.krylov.start
        return nodes.clamp(min=0), vectors, vectors[: len(start)].T @ start

    def flow(self, times: Tensor) -> tuple[Tensor, float]:
        """u(t), shape (r, dimension, c), and its error.

        The error e of α follows ė = −Ke + residual, and ‖K^½e^{−τK}‖ is at most (2eτ)^{−½}. With one column T
        is tridiagonal, so that every entry of e^{−sT} keeps its sign and the residual only grows; then
        ‖K^½e(t)‖ ≤ √(2t/e) ‖B u_last(t)‖. With several columns this is an estimate.
        """
        return self._filtered(flow_filters(self.ritz[0], times), (2 / math.e * times).sqrt())

    def ridge(self, ridges: Tensor) -> tuple[Tensor, float]:
        """Solutions u at every ridge, shape (r, dimension, c), and their error: ‖K^½(K + ρI)⁻¹‖ ≤ 1/(2√ρ).

        Rounding of K, of size ελ_max, changes them by ελ_max/ρ, which is added.
        """
        nodes = self.ritz[0]
        u, error = self._filtered(ridge_filters(nodes, ridges), 1 / (2 * ridges.sqrt()))
        return u, error + torch.finfo(nodes.dtype).eps * float(nodes.max() / ridges.min())

    def _filtered(self, filters: Tensor, factors: Tensor) -> tuple[Tensor, float]:
        """Filters (r, dimension) of the spectrum, with what times its residual bounds the error of each."""
        nodes, vectors, components = self.ritz
        filtered = filters[..., None] * components
        u, B = vectors @ filtered, self.krylov.below[-1]
        bounds = factors[:, None] * (B @ u[:, u.shape[1] - B.shape[1] :]).norm(dim=1)
        norms = (nodes[:, None] * filtered.square()).sum(1).sqrt()
        return u, float((bounds / norms.clamp(min=torch.finfo(norms.dtype).tiny)).max())


@dataclass(frozen=True)
class KrylovSpace(Projected):
    """The space with its basis."""

    basis: Tensor  # Q, shape (n, dimension)


@dataclass(frozen=True)
class FlowPath:
    """Gradient flow at several times.

    Attributes:
        coefficients: α(t) with outputs f(t) = Kα(t), shape (r, n, c).
        num_products: Products with K that were made.
        error: That of `Projected.flow`: a bound (up to rounding) for one column, an estimate for several.
        converged: Whether it is within the tolerance.
        space: Where it was found; None where it was known without.
    """

    coefficients: Tensor
    num_products: int
    error: float
    converged: bool
    space: KrylovSpace | None = None


@dataclass(frozen=True)
class PathErrors:
    """Mean ‖y − out‖² over rows at each point of a path."""

    points: tuple[float, ...]  # ridges, or times
    train: tuple[float, ...]
    held_out: tuple[tuple[float, ...], ...]  # of each set of rows


@dataclass(frozen=True)
class LinearPaths:
    """A linear model of a network at every ridge and at every time of gradient flow.

    Attributes:
        network: Its name.
        width: Neurons of each hidden layer.
        ridge: Errors by ridge ρ; weight decay λ is ρ = nλ.
        flow: Errors by time t.
        flow_error: `FlowPath.error`.
        converged: Whether that is within the tolerance.
        num_products: Products with K that gradient flow took.
    """

    network: str
    width: int
    ridge: PathErrors
    flow: PathErrors
    flow_error: float
    converged: bool
    num_products: int


def ridge_path(K: Tensor, Y: Tensor, ridges: Tensor, space: KrylovSpace | None = None) -> Tensor:
    """α = (K + ρI)⁻¹Y at every ridge, shape (r, n, c).

    Predictions are kernels with the training rows times α; at the training rows themselves they are Y − ρα.
    Besides K and the space one matrix of the size of K is held.

    Args:
        K: Positive semi-definite, float64, shape (n, n); it is left as it is.
        Y: Targets, shape (n, c).
        ridges: ρ > 0, shape (r,).
        space: A Krylov space of both; ridges that it has within TOLERANCE are read off it, and others take a
            Cholesky factorisation each.
    """
    ridge_filters(K.new_zeros(1), ridges)  # refuses those that are not positive
    coefficients = Y.new_empty(len(ridges), *Y.shape)
    factor: Tensor | None = None
    for ridge, alpha in zip(ridges, coefficients, strict=True):
        if space is not None:
            u, error = space.ridge(ridge[None])
            if error <= TOLERANCE:
                alpha.copy_(space.basis @ u[0])
                continue
        if factor is None:
            require_memory(K.numel() * K.element_size(), "A Cholesky factorisation of this size")
            factor = torch.empty_like(K).mT  # LAPACK's order, so that nothing is copied on the way
        alpha.copy_(_solved(K, Y, float(ridge), factor))
    return coefficients


def _solved(K: Tensor, Y: Tensor, ridge: float, factor: Tensor) -> Tensor:
    """(K + ρI)⁻¹Y by a Cholesky factorisation, in the memory of `factor`, of the shape of K."""
    info = torch.empty((), dtype=torch.int32)
    factor.copy_(K).diagonal().add_(ridge)
    torch.linalg.cholesky_ex(factor, out=(factor, info))
    if int(info):
        raise InputError(
            f"With the ridge {ridge:.1e} this {len(K)} x {len(K)} kernel is not positive definite to "
            f"rounding: use ridges from {_rounding(K):.0e} on."
        )
    half = torch.linalg.solve_triangular(factor, Y, upper=False)
    return torch.linalg.solve_triangular(factor.mT, half, upper=True)


def _rounding(K: Tensor) -> float:
    """What rounding can add to or take from eigenvalues of K: n ε times its trace, which is above λ_max."""
    return len(K) * torch.finfo(K.dtype).eps * float(K.diagonal().sum())


def flow_path(
    K: Tensor, Y: Tensor, times: Tensor, *, tolerance: float = TOLERANCE, max_products: int = MAX_PRODUCTS
) -> FlowPath:
    """Gradient flow on ½‖f − Y‖² from f = 0 at every time: α(t) = (I − e^{−tK})K⁻¹Y, by block Lanczos.

    Args:
        K: Positive semi-definite, float64, shape (n, n).
        Y: Targets, shape (n, c).
        times: t ≥ 0, shape (r,).
        tolerance: Of `FlowPath.error`.
        max_products: Products with K at most; a path that is not done by then says so in `converged`.
    """
    flow_filters(K.new_zeros(1), times)  # refuses negative times
    if not bool(Y.any()) or not bool(K.any()):
        return FlowPath(times[:, None, None] * Y, 0, 0.0, True)
    most = min(max_products, -(-len(K) // Y.shape[1]) + 1)
    require_memory(2 * most * Y.numel() * K.element_size(), "The Krylov space of gradient flow")
    operator = _Recorded(K)
    krylov = lanczos(operator, Y, num_steps=most, stop=_growing(times, tolerance), check_every=1)
    space = KrylovSpace(krylov, torch.cat(operator.blocks, dim=1))
    u, error = space.flow(times)
    return FlowPath(space.basis @ u, krylov.num_steps, error, error <= tolerance, space)


class _Recorded(DenseGram):
    """K as an operator that remembers what it was multiplied by: the basis of the Krylov space."""

    def __init__(self, K: Tensor) -> None:
        super().__init__(K)
        self.blocks: list[Tensor] = []

    def matmul(self, V: Tensor) -> Tensor:
        self.blocks.append(V)
        return super().matmul(V)


def _growing(times: Tensor, tolerance: float) -> Callable[[Krylov], bool]:
    """A rule that stops Lanczos within the tolerance, and looks at ever larger spaces."""
    due = 4.0

    def stop(krylov: Krylov) -> bool:
        nonlocal due
        if krylov.num_steps < due:
            return False
        due *= CHECK_GROWTH
        return Projected(krylov).flow(times)[1] <= tolerance

    return stop


@dataclass(frozen=True)
class _Model:
    """A model that is linear in its weights.

    Attributes:
        kernel: Of inputs X (p, d) with the training rows; by default of these with themselves.
        offset: What is added to its outputs at inputs X, shape of the targets.
        num_outputs: Outputs of a row that have rows of K of their own.
    """

    kernel: Callable[[Tensor | None], Tensor]
    offset: Callable[[Tensor], Tensor | float]
    num_outputs: int


def linear_paths(
    network: Network,
    start: Parameters,
    X: Tensor,
    Y: Tensor,
    held_out: Sequence[tuple[Tensor, Tensor]],
    ridges: Sequence[float],
    times: Sequence[float],
) -> LinearPaths:
    """Errors at every ridge and time of a network's NTK or, where A alone is moved, conjugate kernel.

    Args:
        network: Any network; the kernel is that of the parameters that it moves.
        start: Its initial weights, one copy, shapes (1, …); computed with in float64.
        X: Training inputs, shape (n, d).
        Y: Training targets, shape (n, k).
        held_out: Inputs (p, d) and targets (p, k) of each set of other rows.
        ridges: ρ > 0; to match a weight decay of λ give nλ.
        times: t ≥ 0.
    """
    start = {name: part.double() for name, part in start.items()}
    X, Y, held_out = X.double(), Y.double(), [(each.double(), to.double()) for each, to in held_out]
    model = (_conjugate if network.moved == ("A",) else _tangent)(network, start, X)
    size = len(X) * model.num_outputs
    require_memory(path_bytes(size), f"A linear model of {size:,} equations", "use fewer rows or outputs")
    K = model.kernel(None)
    targets = (Y - model.offset(X)).reshape(size, -1)
    ridge = torch.tensor(ridges, dtype=torch.float64)
    flow = flow_path(K, targets, torch.tensor(times, dtype=torch.float64))
    by_ridge = ridge_path(K, targets, ridge, flow.space)
    flow = replace(flow, space=None)  # which takes room, too
    coefficients = torch.cat([by_ridge, flow.coefficients])
    residuals = torch.cat([ridge[:, None, None] * by_ridge, targets - _outputs(K, flow.coefficients)])
    del K  # the kernels of the held-out rows may need its room
    train = residuals.square().sum((1, 2)) / len(X)
    others = [_held_out_errors(model, coefficients, *rows) for rows in held_out]
    return LinearPaths(
        network=network.name,
        width=network.width,
        ridge=_errors(ridges, train, others, slice(len(ridges))),
        flow=_errors(times, train, others, slice(len(ridges), None)),
        flow_error=flow.error,
        converged=flow.converged,
        num_products=flow.num_products,
    )


def path_bytes(size: int) -> int:
    """What `linear_paths` holds at a time for a kernel of this size: it, a factor, a space, pieces."""
    return 8 * (2 * size**2 + 2 * size * min(size, MAX_PRODUCTS) + 2 * PIECE_ENTRIES)


def _tangent(network: Network, start: Parameters, X: Tensor) -> _Model:
    """f⁽⁰⁾ + J Δ; its K has a row for each output of each row."""
    return _Model(
        kernel=lambda Z: tangent_gram(network, start, X if Z is None else Z, None if Z is None else X),
        offset=lambda Z: network_outputs(network, start, Z)[0],
        num_outputs=start["A"].shape[1],
    )


def _conjugate(network: Network, start: Parameters, X: Tensor) -> _Model:
    """A h from A = 0; its K is the same for all outputs."""
    features = last_features(network, start, X)
    return _Model(
        kernel=lambda Z: (features if Z is None else last_features(network, start, Z)) @ features.T,
        offset=lambda Z: 0.0,
        num_outputs=1,
    )


def last_features(network: Network, params: Parameters, X: Tensor) -> Tensor:
    """The values h that the last layer A multiplies, out = A h, shape (n, m).

    They are the last hidden values. The ResNets have h = h₁ + h₂ with both hidden layers; where A enters h₂
    as well, σ(V(A h₁, 1)), it stays there as it is in `params`.

    Args:
        network: Any network.
        params: One copy, shapes (1, …).
        X: Inputs, shape (n, d).
    """
    return torch.stack([each.inputs for each in network.gradient_factors(params, X)["A"]]).sum(0)


def _held_out_errors(model: _Model, coefficients: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """Mean ‖y − out‖² over rows X (p, d) with targets Y (p, k) for each of the coefficients (r, n, c)."""
    step = max(1, PIECE_ENTRIES // (coefficients.shape[1] * model.num_outputs))
    total = Y.new_zeros(len(coefficients))
    for first in range(0, len(X), step):
        piece = slice(first, first + step)
        kernel = model.kernel(X[piece])
        rest = (Y[piece] - model.offset(X[piece])).reshape(len(kernel), -1)
        total += (rest - _outputs(kernel, coefficients)).square().sum((1, 2))
    return total / len(X)


def _outputs(kernel: Tensor, coefficients: Tensor) -> Tensor:
    """Products of a kernel (p, n) with coefficients (r, n, c), shape (r, p, c), as one product."""
    r, n, c = coefficients.shape
    return (kernel @ coefficients.movedim(1, 0).reshape(n, r * c)).view(-1, r, c).movedim(1, 0)


def _errors(points: Sequence[float], train: Tensor, others: Sequence[Tensor], part: slice) -> PathErrors:
    """The errors of one of the two paths."""
    held_out = tuple(tuple(errors[part].tolist()) for errors in others)
    return PathErrors(tuple(points), tuple(train[part].tolist()), held_out)
