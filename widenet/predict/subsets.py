"""Rows -> what random subsets of them predict for every row, without that row's help.

Rows at the same point stand or fall together: where a judged row, or another at its point, is among the
fitted ones, the whole point is left out of the fit.
"""

import torch
from torch import Tensor

from widenet.base.threads import threads
from widenet.data.points import points_of
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.predict.loo import inverse_root, left_out

TRAIN_ROWS = 4096  # largest subset that is factorised here
TEST_ROWS = 16384  # most rows that the subsets' predictors are judged on
NUM_HALVINGS = 6
SMALLEST_SUBSET = 24  # fewer rows lie on the steep start of a curve and say little about its end
NUM_SUBSETS = 4  # drawn at the first halving, twice as many at each further one
MAX_SUBSETS = 32
JITTER = 1e-10  # of the mean diagonal: lets rows that nearly coincide be factorised


def unseen_predictions(cross: Tensor, Y: Tensor, place: Tensor, subset: Tensor, ridge: float) -> Tensor:
    """Predict every row, shape (t, c), from the rows of the subset that are not at the same point.

    With D = diag(m) over the subset's points, the regression on its rows is the one on D^½ K D^½ with targets
    D^½ ȳ; leaving a point out of that one is in closed form, y_i - α_i / (K⁻¹)_ii with α = K⁻¹ Y
    [rasmussen2006gp, eq. 5.12].

    Args:
        cross: Kernel between the rows that may be fitted, the first p, and all rows, shape (p, t).
        Y: Targets, shape (t, c).
        place: Index of each row's point, shape (t,).
        subset: Indices of the rows to fit, below p, shape (m,).
        ridge: Added to the kernel's diagonal.
    """
    points = points_of(place[subset])
    weights = points.counts.sqrt().to(Y.dtype)[:, None]
    one_each = subset[points.first]
    cross = cross[one_each]
    K = cross[:, one_each].mul_(weights).mul_(weights.T)
    root = inverse_root(K, ridge + JITTER * float(K.diagonal().mean()))
    targets = weights * points.means(Y[subset])
    predictions = cross.T @ (weights * (root.T @ (root @ targets)))
    alone = left_out(root, targets).predictions / weights
    at_place = place.new_full((int(place.max()) + 1,), -1)  # which fitted point is there, -1 for none
    fitted = at_place.scatter(0, place[one_each], torch.arange(points.num, device=place.device))[place]
    predictions[fitted >= 0] = alone[fitted[fitted >= 0]]
    return predictions


def subset_sizes(n: int) -> list[int]:
    """Sizes of the fitted subsets, descending: n or TRAIN_ROWS, then halves while large enough."""
    top = min(n, TRAIN_ROWS)
    return [top, *(m for k in range(1, NUM_HALVINGS + 1) if (m := top >> k) >= SMALLEST_SUBSET)]


def subset_predictions(
    kernel: Kernel,
    X: Tensor,
    Y: Tensor,
    place: Tensor,
    ridge: float,
    *,
    generator: torch.Generator,
    anchor: Tensor | None,
) -> tuple[Tensor, dict[int, Tensor]]:
    """The judged rows (t,), and what subsets of each size predict for them, size -> (num_subsets, t, c).

    Args:
        kernel: The kernel of the predictor.
        X: Inputs, shape (n, d).
        Y: Targets, shape (n, c).
        place: Index of each row's point, shape (n,).
        ridge: Added to the kernel's diagonal.
        generator: Draws the subsets.
        anchor: What all n rows predict for each, leaving out its point, shape (n, c); None if not known.
    """
    n = X.shape[0]
    rows = torch.randperm(n, generator=generator)[:TEST_ROWS].to(X.device)
    top, *smaller = subset_sizes(n)
    judged = X[rows]
    is_square = top == len(rows)  # and symmetric, so that half of it is computed
    cross = gram_matrix(kernel, judged) if is_square else cross_matrix(kernel, judged[:top], judged)
    cross = cross.to(Y.dtype)

    def unseen(subset: Tensor) -> Tensor:
        return unseen_predictions(cross, Y[rows], place[rows], subset, ridge)

    predictions = {}
    with threads() as (pool, _):
        for size in smaller:
            num_subsets = min(MAX_SUBSETS, NUM_SUBSETS * top // (2 * size))
            draws = (torch.randperm(top, generator=generator)[:size] for _ in range(num_subsets))
            subsets = [draw.to(X.device) for draw in draws]
            predictions[size] = torch.stack(list(pool.map(unseen, subsets)))
    if anchor is None or top < n:
        predictions[top] = unseen(torch.arange(top, device=X.device))[None]
    if anchor is not None:
        predictions[n] = anchor[rows][None]
    return rows, predictions
