import pytest
import torch
from sklearn.datasets import load_digits
from torch.testing import assert_close

from widenet.data.points import points_of
from widenet.data.targets import class_columns
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.choose import RIDGES, choose_model, leave_one_out_likelihoods
from widenet.predict.loo import leave_one_out
from widenet.testing import unit_rows


def mean_log_density(predictions, variances, Y):
    """Gaussian, with the scale of most likelihood; without the constants that the module leaves out."""
    v = variances[:, None]
    scale = ((Y - predictions).square() / v).mean()
    density = torch.distributions.Normal(predictions, (scale * v).sqrt()).log_prob(Y).mean()
    return density + 0.5 * (1 + torch.log(torch.tensor(2 * torch.pi, dtype=Y.dtype)))


def without_point(K, Y, place, row, ridge):
    """Prediction and variance of a row by a Gaussian process fitted to all rows at other points."""
    other = place != place[row]
    A = K[other][:, other] + ridge * torch.eye(int(other.sum()), dtype=K.dtype)
    towards = K[row, other]
    return towards @ torch.linalg.solve(A, Y[other]), K[row, row] + ridge - towards @ torch.linalg.solve(
        A, towards
    )


def test_likelihoods_match_fits_without_each_point(generator):
    """Brute force: twelve points, some with several rows, every row left out with its twins."""
    X = unit_rows(12, 3, generator=generator)
    points = points_of(torch.tensor([0, 1, 2, 0, 3, 4, 5, 5, 5, 6, 7, 8, 9, 10, 11, 2]))
    place = points.place
    Y = torch.randn(len(place), 2, generator=generator, dtype=torch.float64)
    K = gram_matrix(kernel_by_name("relu3-all"), X)
    K_rows = K[place][:, place]
    ridges = torch.tensor([0.01, 0.5], dtype=torch.float64)
    for ridge, found in zip(ridges.tolist(), leave_one_out_likelihoods(K, Y, points, ridges), strict=True):
        fits = [without_point(K_rows, Y, place, row, ridge) for row in range(len(place))]
        predictions, variances = (torch.stack(parts) for parts in zip(*fits, strict=True))
        assert_close(found, mean_log_density(predictions, variances, Y), rtol=0, atol=1e-5)


def test_float32_is_as_if_the_smallest_ridge_were_off_by_less_than_a_tenth():
    """Against closed forms in float64, on almost as many rows as are ever chosen on."""
    X, labels = load_digits(return_X_y=True)
    X = torch.as_tensor(X[:1200], dtype=torch.float64)
    X, Y = X / X.norm(dim=1, keepdim=True), class_columns(torch.as_tensor(labels[:1200]), 10)
    K = gram_matrix(kernel_by_name("relu2-all"), X)
    ridge = float(RIDGES[0] * K.diagonal().mean())

    def exact(ridge):
        loo = leave_one_out(K, Y, ridge)
        return mean_log_density(loo.predictions, loo.variances, Y)

    found = leave_one_out_likelihoods(K, Y, points_of(torch.arange(1200)), torch.tensor([ridge]))
    assert exact(1.1 * ridge) < found < exact(0.9 * ridge)  # a smaller one would suit these rows better


@pytest.mark.parametrize("copies", [1, 3])
def test_repeating_all_rows_changes_the_chosen_ridge_as_little_as_the_noise(copies):
    """Left out alone, a twin would tell its answer, and the least ridge would always be chosen."""
    X, labels = load_digits(return_X_y=True)
    X = torch.as_tensor(X[:300], dtype=torch.float64)
    X = (X / X.norm(dim=1, keepdim=True)).repeat(copies, 1)
    generator = torch.Generator().manual_seed(0)
    noisy = torch.as_tensor(labels[:300])
    noisy[:90] = torch.randint(10, (90,), generator=generator)
    Y = class_columns(noisy.repeat(copies), 10)
    model = choose_model(X, Y, place=torch.arange(300).repeat(copies), generator=generator)
    assert model.ridge > 0.05
