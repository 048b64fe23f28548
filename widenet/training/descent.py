"""Full-batch gradient descent on the hidden layer of a two-layer network [fine-grained, section 3.1]."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.two_layer import FineGrainedNet
from widenet.predict.curve import step_grid
from widenet.runs.kept import KeptState
from widenet.runs.trial import Arrays

DIVERGED = 1e3  # times the initial residual: stable descent only ever falls
BLOCK_ENTRIES = 2**20  # of one tile of neurons times rows: small enough to stay in cache between passes
BLOCK_NEURONS = 800  # of one tile, at least: each product lays out all of X anew, too much work for a few
LANES = 8  # matrix products with rows that are no multiple of this lose up to a third of their speed


@dataclass(frozen=True)
class UnseenRows:
    """Rows that descent is not trained on, to be judged on the way.

    Attributes:
        X: Inputs, shape (t, d).
        y: Targets, shape (t,); only their signs matter for `misclassified`.
    """

    X: Tensor
    y: Tensor


@dataclass(frozen=True)
class DescentRecords:
    """What was measured at some of the steps, the first and the last among them.

    Attributes:
        steps: Their numbers, ascending, float64, shape (p,).
        sign_changes: Share of the m·n signs of w_r^T x_i that differ from those of W(0), float64, shape (p,).
        l1_errors: Mean |y − u| over the unseen rows, float64, shape (p,); None without such rows.
        misclassified: Share of the unseen rows where u has not the sign of y, float64, shape (p,); None
            without such rows.
    """

    steps: Tensor
    sign_changes: Tensor
    l1_errors: Tensor | None
    misclassified: Tensor | None


@dataclass(frozen=True)
class DescentRun:
    """What gradient descent did, step by step.

    Attributes:
        eta: Step size η.
        residual_norms: ‖y − u(k)‖ for k = 0..K, float64, shape (K + 1,).
        distances: ‖W(k) − W(0)‖_F for k = 0..K, float64, shape (K + 1,).
        neuron_movement: ‖w_r(K) − w_r(0)‖ of every neuron, shape (m,).
        sign_changes: Share of the m·n signs of w_r^T x_i that differ between W(0) and W(K).
        diverged: True when the run was stopped because its residual outgrew `DIVERGED` times the initial one
            or was no longer finite; K is then the step of the stop, not `num_steps`.
        params: The network at step K.
        records: What was measured on the way; None where nothing was asked for.
    """

    eta: float
    residual_norms: Tensor
    distances: Tensor
    neuron_movement: Tensor
    sign_changes: float
    diverged: bool
    params: FineGrainedNet
    records: DescentRecords | None


def descend(
    params: FineGrainedNet,
    X: Tensor,
    y: Tensor,
    *,
    eta: float,
    num_steps: int,
    num_records: int = 0,
    unseen: UnseenRows | None = None,
    kept: KeptState | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> DescentRun:
    """Run W(k+1) = W(k) − η ∇Φ(W(k)) on Φ = ½‖y − u‖², in the dtype of the parameters.

    Gradients are combinations of the rows of X, so W only moves within their span. The descent therefore runs
    in coordinates of that span, which changes nothing but the cost: images leave many coordinates unused, and
    n rows span at most n. Each step is one product with X forwards and one backwards, over tiles of neurons.

    Args:
        params: The network at initialisation.
        X: Inputs, shape (n, d).
        y: Targets, shape (n,).
        eta: Step size; the linear theory is stable below 2/λ_max(H∞).
        num_steps: Steps to take.
        num_records: Steps at which `records` are taken, about, evenly spread on a logarithmic scale with step
            0 and the last one among them; 0 for none.
        unseen: Rows that are judged at these steps.
        kept: Where the movement and all records are kept now and then. A run that was killed goes on from
            there and ends bit for bit as one that was not; its trial tells all the other arguments.
        progress: Called with the number of steps done, after each.
    """
    if y.shape != X.shape[:1]:
        raise InputError(f"A network has one output, so y must have shape ({len(X)},), not {tuple(y.shape)}.")
    descent = _Descent(params, X, y, eta, unseen)
    recorded = {0, num_steps, *map(int, step_grid(num_steps, num_records))} if num_records else set()
    if kept is not None and kept.earlier is not None:
        descent.go_on_from(kept.earlier.arrays)
    elif recorded:
        descent.record()
    while descent.step < num_steps and not descent.diverged:
        descent.advance()
        if recorded and (descent.diverged or descent.step in recorded):
            descent.record()
        if not descent.diverged:
            progress(descent.step)
        if kept is not None:
            kept.save_if_due(descent.arrays(), {})
    if kept is not None:
        kept.finish(descent.arrays(), {})
    return descent.run()


class _Descent:
    """Descent at one of its steps, and what was seen until then.

    Signs at the start, outputs and signs now follow from the start and `moved`; they are not kept.
    """

    def __init__(
        self, params: FineGrainedNet, X: Tensor, y: Tensor, eta: float, unseen: UnseenRows | None
    ) -> None:
        dtype, basis = params.W.dtype, row_space(X)
        self.params, self.eta, self.unseen = params, eta, unseen
        self.basis, self.X, self.y = basis.to(dtype), (X @ basis).to(dtype), y.to(dtype)
        self.W_start = params.W @ self.basis
        self.moved = torch.zeros_like(self.W_start)
        self.active = self.moved.new_empty(params.width, len(y), dtype=torch.bool)
        self.residual = self._residual()
        self.active_at_start = self.active.clone()
        self.residual_norms, self.distances = [float(self.residual.norm())], [0.0]
        self.records: list[tuple[float, float, float, float]] = []  # as of `DescentRecords`, NaN for None

    @property
    def step(self) -> int:
        return len(self.residual_norms) - 1

    @property
    def diverged(self) -> bool:
        return not self.residual_norms[-1] <= DIVERGED * self.residual_norms[0]

    def go_on_from(self, arrays: Arrays) -> None:
        """Be where an earlier run was when it kept these arrays."""
        self.moved.copy_(torch.from_numpy(arrays["moved"]))
        self.residual = self._residual()
        self.residual_norms, self.distances = arrays["norms"].tolist()
        self.records = [tuple(record) for record in arrays["records"].tolist()]

    def arrays(self) -> Arrays:
        """All that is needed to go on."""
        return {
            "moved": self.moved.cpu().numpy(),
            "norms": np.array([self.residual_norms, self.distances]),
            "records": np.array(self.records).reshape(-1, 4),
        }

    def advance(self) -> None:
        """One step."""
        _backward(self.moved, self.active, self.params.a, self.X, self.residual, self.eta)
        self.residual = self._residual()
        self.residual_norms.append(float(self.residual.norm()))
        self.distances.append(float(self.moved.norm()))

    def record(self) -> None:
        """Measure what the steps themselves do not tell."""
        errors = (math.nan, math.nan) if self.unseen is None else self._errors(self.unseen)
        self.records.append((self.step, self._sign_changes(), *errors))

    def run(self) -> DescentRun:
        """The run that ends here."""
        return DescentRun(
            eta=self.eta,
            residual_norms=torch.tensor(self.residual_norms, dtype=torch.float64),
            distances=torch.tensor(self.distances, dtype=torch.float64),
            neuron_movement=self.moved.norm(dim=1),
            sign_changes=self._sign_changes(),
            diverged=self.diverged,
            params=FineGrainedNet(W=self.params.W + self.moved @ self.basis.T, a=self.params.a),
            records=self._records() if self.records else None,
        )

    def _records(self) -> DescentRecords:
        steps, changes, l1, wrong = torch.tensor(self.records, dtype=torch.float64).T.contiguous()
        return DescentRecords(steps, changes, *((None, None) if self.unseen is None else (l1, wrong)))

    def _residual(self) -> Tensor:
        return self.y - _forward(self.W_start, self.moved, self.params.a, self.X, self.active)

    def _sign_changes(self) -> float:
        return float((self.active != self.active_at_start).sum()) / self.active.numel()

    def _errors(self, unseen: UnseenRows) -> tuple[float, float]:
        """Mean |y − u| and the share of wrong signs, in float64; unseen rows may leave the span of X."""
        X, y, basis = (values.to(torch.float64) for values in (unseen.X, unseen.y, self.basis))
        u = torch.zeros_like(y)
        for neurons in _blocks(self.params.width, len(y)):
            W = torch.addmm(self.params.W[neurons].to(X.dtype), self.moved[neurons].to(X.dtype), basis.T)
            u += self.params.a[neurons].to(X.dtype) @ (W @ X.T).clamp_(min=0)
        u /= math.sqrt(self.params.width)
        return float((y - u).abs().mean()), float((u * y <= 0).to(X.dtype).mean())


def row_space(X: Tensor) -> Tensor:
    """Orthonormal columns Q whose span holds the rows of X (n, d), so that X Q Q^T = X.

    Where rows are fewer than the coordinates that they use, there are n columns; else the unit vectors of
    these coordinates, and of some others up to a multiple of `LANES`. A smaller rank is not looked for: on
    images that costs more than it saves.
    """
    n, d = X.shape
    unused = (X == 0).all(dim=0)
    if n < d - int(unused.sum()):
        return torch.linalg.qr(X.T).Q
    first_used = torch.argsort(unused, stable=True)
    num_used = d - int(unused.sum())
    chosen = first_used[: -(-num_used // LANES) * LANES]
    return torch.eye(d, dtype=X.dtype, device=X.device)[:, chosen]


def _forward(W_start: Tensor, moved: Tensor, a: Tensor, X: Tensor, active: Tensor) -> Tensor:
    """Outputs u (n,) at W_start + moved; writes I[w_r^T x_i ≥ 0] into `active` (m, n)."""
    u = X.new_zeros(len(X))
    for neurons in _blocks(*active.shape):
        preactivations = (W_start[neurons] + moved[neurons]) @ X.T
        torch.ge(preactivations, 0, out=active[neurons])
        u += a[neurons] @ preactivations.clamp_(min=0)
    return u / math.sqrt(len(a))


def _backward(moved: Tensor, active: Tensor, a: Tensor, X: Tensor, residual: Tensor, eta: float) -> None:
    """Add −η ∇Φ = η m^{-1/2} a_r Σ_i I[w_r^T x_i ≥ 0] (y_i − u_i) x_i to `moved` (m, d), in place."""
    weighted = eta / math.sqrt(len(a)) * residual[:, None] * X
    for neurons in _blocks(*active.shape):
        moved[neurons].addcmul_(a[neurons, None], active[neurons].to(X.dtype) @ weighted)


def _blocks(m: int, n: int) -> list[slice]:
    """Slices of m neurons whose tiles of shape (neurons, n) have about `BLOCK_ENTRIES` entries, or more."""
    size = max(BLOCK_NEURONS, BLOCK_ENTRIES // n)
    return [slice(start, start + size) for start in range(0, m, size)]
