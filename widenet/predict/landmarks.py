"""Leave-one-out where rows are too many for the kernel: a regression on the kernel's values at some of them.

With m landmarks, LLᵀ their kernel matrix and φ(x) = L⁻¹ k(landmarks, x), the kernel φ(x)ᵀφ(x') is that of all
rows up to what no combination of the landmarks shows. Of a row's own variance k(x, x) that part,
v = k(x, x) − ‖φ(x)‖², is taken for noise that no other row shares [Snelson & Ghahramani 2006], without which
small ridges would fit the features to everything. The regression is then one on m features, and what it
predicts for a row without that row's target is in closed form. So its error is not estimated; but it is the
error of this regression, which sees less than one with the kernel itself and mostly errs more.

Rows at one point are left out together. A point of c rows with mean target ȳ weighs w = 1/(v + ρ/c). With Φ
the features of the points, W = diag(w) and A = ΦᵀWΦ + I, its leverage is h = wφᵀA⁻¹φ. Without it

    f = (φᵀA⁻¹ΦᵀWȳ − hȳ) / (1 − h)

is predicted, and a row's target has the variance φᵀA⁻¹φ/(1 − h) + v + ρ.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.data.points import Points
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.predict.loo import LeaveOneOut, exactly_left_out, inverse_root

BLOCK = 4096  # points whose kernel values are held at a time
JITTER = 1e-10  # of the mean diagonal: lets landmarks that nearly coincide be factorised


@dataclass(frozen=True)
class LandmarkFit:
    """The regression on the values at landmarks, with every row left out once.

    Attributes:
        predictions: For each row by all rows at other points, shape (n, c).
        variances: Predictive variance of each row's target in units of the kernel, shape (n,).
        missed: Share of the kernel's diagonal, in the mean over rows, that the landmarks do not show.
        num_landmarks: The number m of landmarks.
    """

    predictions: Tensor
    variances: Tensor
    missed: float
    num_landmarks: int

    @property
    def loo(self) -> LeaveOneOut:
        """The same as any other predictor's, with nothing estimated."""
        return exactly_left_out(self.predictions, 1 / self.variances)


def landmark_leave_one_out(
    kernel: Kernel,
    X: Tensor,
    Y: Tensor,
    points: Points,
    ridge: float,
    *,
    num_landmarks: int,
    generator: torch.Generator,
    progress: Callable[[int], None] = lambda done: None,
) -> LandmarkFit:
    """Leave every row out once, all rows of its point together, in time n m² and memory n + m².

    Args:
        kernel: The kernel.
        X: Inputs, float64, shape (n, d).
        Y: Targets, float64, shape (n, c).
        points: Their points.
        ridge: ρ > 0, added to the kernel's diagonal.
        num_landmarks: Points that stand for all; all of them where there are not more.
        generator: Draws them.
        progress: Called with the number of points looked at, each of them twice.
    """
    inputs, targets = X[points.first], points.means(Y)
    chosen = torch.randperm(points.num, generator=generator)[:num_landmarks]
    places = inputs[chosen]
    K = gram_matrix(kernel, places)
    whiten = inverse_root(K, JITTER * float(K.diagonal().mean()))

    def blocks(done: int) -> Iterator[tuple[slice, Tensor]]:
        for start in range(0, points.num, BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, cross_matrix(kernel, inputs[rows], places)
            progress(done + min(rows.stop, points.num))

    missed, diagonal = torch.empty_like(points.counts), kernel.diag(inputs)
    A = torch.eye(len(places), dtype=Y.dtype, device=Y.device)
    products = Y.new_zeros(len(places), Y.shape[1])
    for rows, values in blocks(0):
        features = values @ whiten.T
        missed[rows] = (diagonal[rows] - features.square().sum(1)).clamp_min(0)
        weighted = features / (missed[rows] + ridge / points.counts[rows])[:, None]
        A.addmm_(weighted.T, features)
        products.addmm_(weighted.T, targets[rows])

    # From the kernel's values at once, so that the second pass takes one product less.
    inverse = inverse_root(A, 0.0)
    root = inverse @ whiten
    solution = root.T @ (inverse @ products)
    spread, fitted = torch.empty_like(points.counts), torch.empty_like(targets)
    for rows, values in blocks(points.num):
        spread[rows], fitted[rows] = (values @ root.T).square().sum(1), values @ solution

    left = 1 - spread / (missed + ridge / points.counts)  # 1 − h
    left.clamp_min_(torch.finfo(left.dtype).eps)  # a point of very many rows can round to 0
    predictions = (fitted - (1 - left)[:, None] * targets) / left[:, None]
    variances = spread / left + missed + ridge
    return LandmarkFit(
        predictions=predictions[points.place],
        variances=variances[points.place],
        missed=float((points.counts * missed).sum() / (points.counts * diagonal).sum()),
        num_landmarks=len(places),
    )
