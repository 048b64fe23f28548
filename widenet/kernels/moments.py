"""Second moments of units at pairs of inputs: what every layer maps, and what every kernel reads."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Diagonal = Tensor | float  # E u(x)² of each row; one float where all rows share it

STRIP_ELEMENTS = 1 << 17  # entries at once: the few tensors of 1 MiB or less in use stay in the cache
GATHER_ELEMENTS = 1 << 22  # numbers gathered at once for the close pairs: 32 MiB of float64


@dataclass(frozen=True)
class Moments:
    """Moments of a unit u of one layer at pairs (x, z), elementwise; shapes broadcast to that of `nngp`.

    A layer may overwrite the tensors of the moments that it is given: a tile is large, and each is used once.

    Attributes:
        nngp: Σ = E u(x)u(z).
        ntk: Θ = ⟨∇u(x), ∇u(z)⟩ over the trained weights so far; None while it is 0.
        diag_x: E u(x)².
        diag_z: E u(z)².
        semivariance: ½E(u(x) − u(z))² where it is known better than (diag_x + diag_z)/2 − nngp, which loses
            all digits as x and z come together; None elsewhere.
    """

    nngp: Tensor
    ntk: Tensor | None
    diag_x: Diagonal
    diag_z: Diagonal
    semivariance: Tensor | None = None

    def clone(self) -> "Moments":
        """The same moments in tensors of their own."""
        ntk = None if self.ntk is None else self.ntk.clone()
        return Moments(self.nngp.clone(), ntk, self.diag_x, self.diag_z, self.semivariance)


ValueOf = Callable[[Moments], Tensor]  # from the inputs' moments to the kernel's values


def squared_norms(X: Tensor) -> Tensor:
    """‖x‖² of every row, shape (n,); exactly 1 where it is 1 to rounding."""
    norms = torch.linalg.vector_norm(X, dim=1).square_()
    return norms.masked_fill_((norms - 1).abs() <= 8 * torch.finfo(X.dtype).eps, 1)


def cosines_(nngp: Tensor, diag_x: Diagonal, diag_z: Diagonal) -> Tensor:
    """Overwrite Σ(x, z) by Σ(x, z) / √(Σ(x, x) Σ(z, z)), within [−1, 1], and 0 where a row is 0."""
    for diag in (diag_x, diag_z):
        if isinstance(diag, Tensor):
            nngp *= torch.where(diag > 0, diag, torch.inf).rsqrt()
        elif diag != 1:
            nngp *= diag**-0.5
    return nngp.clamp_(-1, 1)


def tile_values(value: ValueOf, X: Tensor, Z: Tensor) -> Tensor:
    """Values of shape (n1, n2) of a kernel that is a function of the inputs' moments.

    Rows that all have norm 1 share one diagonal, which spares the divisions. Pairs that are nearly parallel
    are computed again from x − z, in float64: near cosine 1 the product x·z, wrong by ε, gives an angle wrong
    by √ε. Where X and Z are the same tensor the diagonal is that of `diag_values`.

    Args:
        value: The kernel as a function of moments.
        X: Rows of shape (n1, d).
        Z: Rows of shape (n2, d), in the dtype of X.
    """
    norms_x, norms_z = squared_norms(X), squared_norms(Z)
    is_unit = bool((norms_x == 1).all() and (norms_z == 1).all())
    diag_x: Diagonal = 1.0 if is_unit else norms_x[:, None]
    diag_z: Diagonal = 1.0 if is_unit else norms_z[None, :]
    gram = X @ Z.T
    if X is Z:
        gram.fill_diagonal_(0)  # not a close pair of two rows
    rows, columns = close_pairs(gram, diag_x, diag_z)
    values = _values_by_strips_(value, gram, diag_x, diag_z)
    step = max(1, GATHER_ELEMENTS // X.shape[1])
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        semivariance = torch.linalg.vector_norm(X[i].double() - Z[j], dim=1).square_() / 2
        values[i, j] = value(_moments_of_pairs(norms_x[i], norms_z[j], semivariance)).to(X.dtype)
    if X is Z:
        values.diagonal().copy_(diag_values(value, X))
    return values


def _values_by_strips_(value: ValueOf, gram: Tensor, diag_x: Diagonal, diag_z: Diagonal) -> Tensor:
    """Overwrite inner products by the kernel's values, some rows at a time, to stay in the cache."""
    num_rows = max(1, STRIP_ELEMENTS // max(1, gram.shape[1]))
    for start in range(0, gram.shape[0] if gram.shape[1] else 0, num_rows):
        strip = gram[start : start + num_rows]
        strip_diag = diag_x[start : start + num_rows] if isinstance(diag_x, Tensor) else diag_x
        values = value(Moments(strip, None, strip_diag, diag_z))
        if values is not strip:
            strip.copy_(values)
    return gram


def diag_values(value: ValueOf, X: Tensor) -> Tensor:
    """Values k(x, x) of shape (n,): those of pairs at distance exactly 0."""
    norms = squared_norms(X)
    return value(_moments_of_pairs(norms, norms, torch.zeros_like(norms))).to(X.dtype)


def _moments_of_pairs(norms_x: Tensor, norms_z: Tensor, semivariance: Tensor) -> Moments:
    """Moments of the inputs at pairs whose distance is known in itself, float64; all of shape (k,)."""
    norms_x, norms_z, semivariance = norms_x.double(), norms_z.double(), semivariance.double()
    return Moments((norms_x + norms_z) / 2 - semivariance, None, norms_x, norms_z, semivariance)


def largest_far_cosine(dtype: torch.dtype) -> float:
    """1 − ε^¼, above which an angle found from the cosine would be wrong by more than about ε^⅞.

    >>> f"{largest_far_cosine(torch.float64):.5f} {largest_far_cosine(torch.float32):.3f}"
    '0.99988 0.981'
    """
    return 1 - torch.finfo(dtype).eps ** 0.25


def close_pairs(gram: Tensor, diag_x: Diagonal, diag_z: Diagonal) -> tuple[Tensor, Tensor]:
    """Rows and columns of the entries whose cosine is above `largest_far_cosine`."""
    largest = largest_far_cosine(gram.dtype)
    cosines = gram if isinstance(diag_x, float) else cosines_(gram.clone(), diag_x, diag_z)
    if gram.numel() == 0 or float(cosines.max()) <= largest:
        none = torch.empty(0, dtype=torch.int64, device=gram.device)
        return none, none
    rows, columns = (cosines > largest).nonzero(as_tuple=True)
    return rows, columns


class OfMoments(ABC):
    """A kernel that is a function of the inputs' moments: of ⟨x, z⟩, ‖x‖ and ‖z‖."""

    def tile(self, X: Tensor, Z: Tensor) -> Tensor:
        return tile_values(self._value, X, Z)

    def diag(self, X: Tensor) -> Tensor:
        return diag_values(self._value, X)

    @abstractmethod
    def _value(self, moments: Moments) -> Tensor:
        """The kernel's values, in the shape of `moments.nngp`."""
