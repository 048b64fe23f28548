"""What the proof of Theorem 1 assumes of a trained ResNet, measured [resnet-beyond-kernels, section 6.1].

While ‖W − W⁽⁰⁾‖₂ ≤ τ_w and ‖V − V⁽⁰⁾‖₂ ≤ τ_v, few neurons change their sign (`sign_changes` of
`training.run`), and what the initial weights contribute to the outputs vanishes: A D_W W⁽⁰⁾ and A D_V,W V⁽⁰⁾
are negligible (Lemma C.1). D_W and D_V,W are the diagonal matrices of active neurons after training.
"""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from widenet.networks.network import Parameters, hidden_values, with_ones
from widenet.networks.resnet import ResNet

PIECE_ENTRIES = 2**22  # of the products of a piece of rows


@dataclass(frozen=True)
class InitialShare:
    """A D W⁽⁰⁾ over rows, where z is what the layer was given.

    Attributes:
        largest, mean: Of ‖A D W⁽⁰⁾ z‖.
        largest_operator, mean_operator: Of ‖A D W⁽⁰⁾‖₂.
    """

    largest: float
    mean: float
    largest_operator: float
    mean_operator: float


@dataclass(frozen=True)
class ProofDiagnostics:
    """A trained ResNet beside what the proof assumes.

    Attributes:
        first: A D_W W⁽⁰⁾ with z = (x, 1); Lemma C.1 (b) has O(m^{−0.001}) for ‖A D_W W⁽⁰⁾ z‖.
        second: A D_V,W V⁽⁰⁾ with z = (out₁, 1); Lemma C.1 (f) has Õ(τ_v(τ_v/σ_v)^{1/3}) for its norm.
        travelled_w: ‖W − W⁽⁰⁾‖₂/τ_w, at most 1 in the proof.
        travelled_v: ‖V − V⁽⁰⁾‖₂/τ_v, at most 1 in the proof.
    """

    first: InitialShare
    second: InitialShare
    travelled_w: float
    travelled_v: float

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON values."""
        return asdict(self)


def proof_diagnostics(
    network: ResNet, now: Parameters, start: Parameters, X: Tensor, *, tau_w: float, tau_v: float
) -> ProofDiagnostics:
    """Measure a trained ResNet; A is that of `now`, which is that of `start` where hidden layers are trained.

    Args:
        network: The ResNet.
        now: Its weights, one copy, shapes (1, …).
        start: Those it began with.
        X: Inputs, shape (n, d).
        tau_w: τ_w of Table 1 (`widenet.theory.resnet_beyond_kernels.table`).
        tau_v: τ_v.
    """
    rows, A = with_ones(X), now["A"][0]
    hidden = hidden_values(network, now, rows)
    first, second = hidden["first"][0], hidden["second"][0]
    travelled = {name: torch.linalg.matrix_norm(now[name][0] - start[name][0], ord=2) for name in ("W", "V")}
    return ProofDiagnostics(
        first=initial_share(A, first > 0, start["W"][0], rows),
        second=initial_share(A, second > 0, start["V"][0], with_ones(first @ A.T)),
        travelled_w=float(travelled["W"]) / tau_w,
        travelled_v=float(travelled["V"]) / tau_v,
    )


def initial_share(A: Tensor, active: Tensor, W0: Tensor, Z: Tensor) -> InitialShare:
    """A D W⁽⁰⁾ at every row, a piece of rows at a time.

    Args:
        A: Shape (k, m).
        active: Diagonals of D, boolean, shape (n, m).
        W0: W⁽⁰⁾, shape (m, p).
        Z: What the layer was given, shape (n, p).
    """
    k, m = A.shape
    step = max(1, PIECE_ENTRIES // (k * m))
    vectors, operators = [], []
    for first in range(0, len(Z), step):
        piece = slice(first, first + step)
        products = (A * active[piece, None, :]) @ W0
        vectors.append((products @ Z[piece, :, None]).norm(dim=(1, 2)))
        operators.append(torch.linalg.matrix_norm(products, ord=2))
    norms, operator_norms = torch.cat(vectors), torch.cat(operators)
    return InitialShare(
        largest=float(norms.max()),
        mean=float(norms.mean()),
        largest_operator=float(operator_norms.max()),
        mean_operator=float(operator_norms.mean()),
    )
