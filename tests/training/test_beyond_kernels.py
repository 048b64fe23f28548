"""What a network learns and the kernels tried do not [resnet-beyond-kernels, section 8.1], at reduced size.

`benchmarks/beyond_kernels.py` has the full grids, more kernels and more rows.
"""

import pytest
import torch

from widenet.data import held_out, load
from widenet.kernels import cross_matrix, gram_matrix, kernel_by_name
from widenet.networks.names import network_by_name
from widenet.training.linear import factorise, ridge_predictions
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

NOT_LEARNED = 15 * 0.3**2  # kα², the error of not having learned αG(F)
KERNELS = ["relu2-all", "relu3-all", "resnet3-all", "resnet3-last", "gaussian:h=2", "laplacian", "arcsin"]


@pytest.mark.slow
def test_the_resnet_learns_what_is_beyond_kernels():
    dataset = load("resnet-cube:n=500")
    test = held_out("resnet-cube", dataset, n=2000)
    grid = [TrainingSettings(rate=0.1, decay=decay) for decay in (0.005, 0.01)]
    runs = sweep(network_by_name("3resnet-all", 100), dataset, grid, test=test)
    assert min(run.best_test_error for run in runs) < 0.2


@pytest.mark.parametrize("name", KERNELS)
def test_no_kernel_does(name):
    """With the ridge that is best on the test rows themselves."""
    dataset = load("resnet-cube:n=500", prepare="unit")
    test = held_out("resnet-cube", dataset, n=2000)
    kernel = kernel_by_name(name)
    ridges = torch.logspace(-8, 1, 19, dtype=torch.float64)
    factors = factorise(gram_matrix(kernel, dataset.X))
    predictions = ridge_predictions(factors, cross_matrix(kernel, test.X, dataset.X), dataset.Y, ridges)
    assert float((predictions - test.Y).square().sum(-1).mean(1).min()) > NOT_LEARNED
