"""Problems that the tests of all methods share."""

import pytest
import torch
from torch import Tensor

from widenet.memorise.problem import SquaresProblem


def problem(Z: Tensor, y: Tensor, *, r: int | None = None, seed: int = 0) -> SquaresProblem:
    """Two layers on these rows, as wide as Lemma 3 asks for."""
    return SquaresProblem(Z, y, 2 * Z.shape[1] + 2 if r is None else r, 2, None, 0.0, seed)


@pytest.fixture
def small(generator) -> SquaresProblem:
    """40 rows of 10 numbers of very different sizes; 55 forms could be fitted."""
    Z = torch.randn(40, 10, generator=generator, dtype=torch.float64) * torch.logspace(
        0, -3, 10, dtype=torch.float64
    )
    return problem(Z, torch.randn(40, generator=generator, dtype=torch.float64))


@pytest.fixture
def paper(generator) -> SquaresProblem:
    """The small synthetic example [mild-memorisation, Appendix A.1]: N = 300, d = 100, r = 300."""
    X = 2 * torch.rand(300, 100, generator=generator, dtype=torch.float64) - 1
    y = 2 * torch.rand(300, generator=generator, dtype=torch.float64) - 1
    return problem(X / X.norm(dim=1, keepdim=True), y, r=300)
