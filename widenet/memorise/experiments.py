"""The problems of the paper's experiments, and what it shows of them [mild-memorisation, Appendix A].

`problem_of` takes any data and chooses a network that can memorise it. Here the networks are the paper's.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from widenet.data.principal import PrincipalComponents
from widenet.memorise.problem import SquaresProblem, perturbed_inputs
from widenet.networks.quadratic import RandomLayer, loss, quadratic_outputs

UNSEEN_NOISE = 2**32  # added to the seed for the noise of unseen rows, beyond the seeds of runs


@dataclass(frozen=True)
class InputWay:
    """How prepared inputs become those of the trained layer: projected, perturbed, through a random layer.

    Attributes:
        components: What rows are projected to first; None to leave them as they are.
        noise: Standard deviation of what is then added to each coordinate, σ₁ in the paper.
        layer: What they go through at last; None for two layers.
    """

    components: PrincipalComponents | None = None
    noise: float = 0.0
    layer: RandomLayer | None = None

    def follow(self, X: Tensor, *, seed: int | None) -> Tensor:
        """Z for the rows of X (n, d), shape (n, k); without noise where there is no seed for it."""
        points = X if self.components is None else self.components.apply(X)
        if seed is not None:
            points = perturbed_inputs(points, self.noise, seed)
        return points if self.layer is None else self.layer(points)


@dataclass(frozen=True)
class UnseenFit:
    """Mean squared error on rows that were not trained on, which go the way of the training rows.

    Attributes:
        clean: Without noise.
        perturbed: With noise of the same size, drawn anew.
    """

    clean: float
    perturbed: float


def synthetic_problem(n: int, d: int, r: int, seed: int) -> SquaresProblem:
    """Entries of X (n, d) and y (n,) uniform on [−1, 1], rows of X then scaled to norm 1 [figure 2].

    The paper has n = 300, d = 100, r = 300.
    """
    draws = torch.from_numpy(np.random.Generator(np.random.PCG64(seed)).uniform(-1, 1, (n, d + 1)))
    X, y = draws[:, :d], draws[:, d].clone()
    return SquaresProblem(X / X.norm(dim=1, keepdim=True), y, r, 2, None, 0.0, seed)


def squared_features(k: int, d: int, std: float, seed: int) -> RandomLayer:
    """The layer z = (Qx)² with Q ~ N(0, std²), shape (k, d) [figures 3b and 4b: k = 750, d = 100, std = .15].

    Unlike `random_weights`, rows of Q keep the lengths that were drawn, and z is not scaled.
    """
    draws = np.random.Generator(np.random.PCG64([seed, 1])).standard_normal((k, d))
    return RandomLayer(std * torch.from_numpy(draws), 2, 1.0)


def image_problem(X: Tensor, y: Tensor, r: int, way: InputWay, seed: int) -> SquaresProblem:
    """Numbers y (n,) to be put out for the rows of X (n, d) by r neurons, after a way that rows take."""
    Z = way.follow(X, seed=seed)
    return SquaresProblem(Z, y, r, 2 if way.layer is None else 3, way.layer, way.noise, seed)


def unseen_fit(X: Tensor, y: Tensor, W: Tensor, way: InputWay, seed: int) -> UnseenFit:
    """Judge trained weights W (k, r) on rows X (t, d) with targets y (t,)."""
    clean, perturbed = (
        4 * loss(quadratic_outputs(way.follow(X, seed=each), W) - y) for each in (None, seed + UNSEEN_NOISE)
    )
    return UnseenFit(clean, perturbed)


def trailing_mean(records: Tensor, window: int) -> Tensor:
    """Mean of each record and the window − 1 before it, as the paper draws losses with a window of 20.

    The first records, which have fewer before them, are averaged over those there are. The mean is taken
    before the logarithm.

    >>> trailing_mean(torch.tensor([4.0, 2.0, 0.0, 7.0], dtype=torch.float64), 2)
    tensor([4.0000, 3.0000, 1.0000, 3.5000], dtype=torch.float64)

    Args:
        records: Shape (p,), float64.
        window: At least 1.
    """
    padded = torch.cat([records.new_zeros(window), records])
    counts = torch.arange(1, len(records) + 1, dtype=records.dtype).clamp(max=window)
    # Not a difference of cumulated sums, which would lose the digits of small late losses.
    return padded.unfold(0, window, 1)[1:].sum(1) / counts
