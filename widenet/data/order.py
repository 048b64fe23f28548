"""An order of rows that depends on what they hold, not on where they stand.

Whatever is drawn by position among rows in this order, such as subsets, shuffles and random signs, is the
same for the same rows in a file that was sorted otherwise.
"""

import numpy as np
import torch
from torch import Tensor

# Rows whose projections are this near are ordered by their targets first: those at the same point differ by
# rounding, which depends on the order in which a column's mean was summed.
NEAR = 1e-11


def content_order(X: Tensor, Y: Tensor) -> Tensor:
    """Indices that sort rows by their inputs, and those at the same point by their targets, shape (n,).

    Inputs are compared along one random direction, on which different points have different places, and
    rounding moves none of them past another. A hash would not do: rounding changes all of it. Rows that
    share inputs and targets keep their order; to swap them changes nothing.

    >>> X = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    >>> Y = torch.tensor([[1.0], [1.0], [-1.0]], dtype=torch.float64)
    >>> order, swapped = content_order(X, Y), content_order(X.flip(0), Y.flip(0))
    >>> torch.equal(Y[order], Y.flip(0)[swapped])
    True

    Args:
        X: Inputs of norm 1, shape (n, d).
        Y: Targets, shape (n, c).
    """
    generator = torch.Generator().manual_seed(0)  # any direction will do; a fixed one makes it repeatable
    along, target = (_projected(part, generator) for part in (X, Y))
    order = np.argsort(along, kind="stable")
    segment = np.empty(len(along), dtype=np.int64)
    segment[order] = np.concatenate([[0], np.cumsum(np.diff(along[order]) > NEAR)])
    return torch.from_numpy(np.lexsort((along, target, segment)))


def _projected(values: Tensor, generator: torch.Generator) -> np.ndarray:
    direction = torch.randn(values.shape[1], generator=generator, dtype=torch.float64)
    return (values.double() @ (direction / direction.norm())).numpy()
