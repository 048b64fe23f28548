"""Whitened rows against the definition."""

import torch

from widenet.memorise.methods.whitening import whitening


def test_second_moments_become_the_identity(small):
    T = whitening(small.Z)
    rows = small.Z @ T
    torch.testing.assert_close(rows.T @ rows / small.n, torch.eye(10, dtype=torch.float64))


def test_a_small_feature_is_kept_and_an_empty_direction_is_not(generator):
    Z = torch.randn(30, 4, generator=generator, dtype=torch.float64)
    Z[:, 1] *= 1e-12
    Z[:, 3] = Z[:, 0] - 2 * Z[:, 2]
    Z = torch.cat([Z, torch.zeros(30, 1, dtype=torch.float64)], dim=1)
    T = whitening(Z)
    rows = Z @ T
    assert T.shape == (5, 3)
    torch.testing.assert_close(rows.T @ rows / 30, torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-6)
