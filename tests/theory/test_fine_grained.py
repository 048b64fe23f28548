import math

import torch

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.testing import unit_rows
from widenet.theory.fine_grained import generalisation_bound


def test_first_term_is_the_complexity_measure(generator):
    """Twice the Rademacher complexity of the ball is (10), because H∞ has the trace n/2."""
    X = unit_rows(50, 8, generator=generator)
    H = gram_matrix(kernel_by_name("relu2-hidden"), X)
    y = torch.sign(X[:, 0])
    quadratic = float(y @ torch.linalg.solve(H, y))
    floor = float(torch.linalg.eigvalsh(H)[0])
    bound = generalisation_bound(quadratic, float(H.trace()), 50, floor=floor, delta=0.01)
    assert math.isclose(bound.terms["complexity"], math.sqrt(2 * quadratic / 50), rel_tol=1e-12)
    assert math.isclose(bound.value, sum(bound.terms.values()))


def test_bound_holds_for_a_learnable_target(generator):
    """Population loss of the interpolant of a linear target, measured on fresh rows, is below the bound."""
    kernel = kernel_by_name("relu2-hidden")
    X, Z = unit_rows(400, 5, generator=generator), unit_rows(2000, 5, generator=generator)
    y, z = X[:, 0], Z[:, 0]
    H = gram_matrix(kernel, X)
    alpha = torch.linalg.solve(H, y)
    loss = (kernel.tile(Z, X) @ alpha - z).abs().clamp(max=1).mean()
    floor = float(torch.linalg.eigvalsh(H)[0])
    bound = generalisation_bound(float(y @ alpha), 200.0, 400, floor=floor, delta=0.01)
    assert loss < bound.value < 1


def test_bound_shrinks_as_rows_grow():
    values = [generalisation_bound(4.0, n / 2, n, floor=1e-3, delta=0.01).value for n in (100, 1000, 10000)]
    assert values == sorted(values, reverse=True)
