import pytest
import torch

from widenet.data import Cube, Product, Sphere


def test_cube_is_uniform_over_its_corners(generator):
    X = Cube(3, 0.5).draw(16_000, generator=generator)
    assert X.dtype == torch.float64
    assert set(X.unique().tolist()) == {-0.5, 0.5}
    corners = ((X > 0) * torch.tensor([1, 2, 4])).sum(1)
    counts = torch.bincount(corners, minlength=8)
    assert (counts - 2000).abs().max() < 5 * (16_000 * 7 / 64) ** 0.5


@pytest.mark.parametrize("inputs", [Cube(4), Sphere(4), Product((Cube(2, 2.0), Sphere(2)))])
def test_coordinates_are_uncorrelated_and_centred(inputs, generator):
    n = 20_000
    X = inputs.draw(n, generator=generator)
    assert X.shape == (n, inputs.d)
    assert X.mean(0).abs().max() < 5 * float(X.std()) / n**0.5
    moments = X.T @ X / n
    off_diagonal = moments - torch.diag(moments.diagonal())
    assert off_diagonal.abs().max() < 5 * float(X.square().max()) / n**0.5


def test_sphere_has_norm_one_and_no_preferred_direction(generator):
    X = Sphere(5).draw(20_000, generator=generator)
    torch.testing.assert_close(X.norm(dim=1), torch.ones(20_000, dtype=torch.float64))
    # E x_j² = 1/d and E x_j⁴ = 3/(d(d + 2)) on the sphere.
    torch.testing.assert_close(
        X.square().mean(0), torch.full((5,), 0.2, dtype=torch.float64), atol=0.01, rtol=0
    )
    torch.testing.assert_close(
        X.pow(4).mean(0), torch.full((5,), 3 / 35, dtype=torch.float64), atol=0.01, rtol=0
    )


def test_parts_of_a_product_stand_side_by_side(generator):
    X = Product((Cube(2, 3.0), Sphere(2), Cube(0))).draw(50, generator=generator)
    assert X.shape == (50, 4)
    assert (X[:, :2].abs() == 3).all()
    torch.testing.assert_close(X[:, 2:].norm(dim=1), torch.ones(50, dtype=torch.float64))
