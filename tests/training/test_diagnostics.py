"""Diagnostics of section 6.1 against the same by loops over rows and diagonal matrices."""

import pytest
import torch

from widenet.data import load
from widenet.networks.initialise import draw_parameters
from widenet.networks.resnet import ResNet
from widenet.training import diagnostics
from widenet.training.diagnostics import InitialShare, proof_diagnostics
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import train

SETTINGS = TrainingSettings(rate=0.05, epochs=15)


@pytest.fixture(scope="module", params=["hidden", "all"])
def trained(request):
    """A ResNet before and after training, and its rows."""
    dataset, network = load("resnet-cube:n=60,d=8"), ResNet(25, request.param)
    generator, k = torch.Generator().manual_seed(SETTINGS.seed), dataset.Y.shape[1]
    start = draw_parameters(network, 8, k, SETTINGS.initialisation, generator=generator, dtype=torch.float64)
    run = train(network, dataset, SETTINGS, dtype=torch.float64)
    return network, run.weights, start, dataset.X


def spectral(matrix):
    return float(torch.linalg.svdvals(matrix)[0])


def share(products, inputs):
    norms = [float((product @ z).norm()) for product, z in zip(products, inputs, strict=True)]
    operators = [spectral(product) for product in products]
    return InitialShare(max(norms), sum(norms) / len(norms), max(operators), sum(operators) / len(operators))


@pytest.mark.parametrize("piece_entries", [1, 2**22])
def test_diagnostics_are_those_of_the_definitions(trained, piece_entries, monkeypatch):
    monkeypatch.setattr(diagnostics, "PIECE_ENTRIES", piece_entries)
    network, now, start, X = trained
    W, V, A, W0, V0 = now["W"][0], now["V"][0], now["A"][0], start["W"][0], start["V"][0]
    one = torch.ones(1, dtype=torch.float64)
    firsts, seconds, inputs, second_inputs = [], [], [], []
    for x in X:
        inputs.append(torch.cat([x, one]))
        D_W = torch.diag((W @ inputs[-1] >= 0).double())
        out1 = A @ D_W @ W @ inputs[-1]
        second_inputs.append(torch.cat([out1, one]))
        D_V = torch.diag((V @ second_inputs[-1] >= 0).double())
        firsts.append(A @ D_W @ W0)
        seconds.append(A @ D_V @ V0)
    found = proof_diagnostics(network, now, start, X, tau_w=2.0, tau_v=0.5)
    for measured, expected in (
        (found.first, share(firsts, inputs)),
        (found.second, share(seconds, second_inputs)),
    ):
        assert vars(measured) == pytest.approx(vars(expected), rel=1e-9)
    assert found.travelled_w == pytest.approx(spectral(W - W0) / 2)
    assert found.travelled_v == pytest.approx(spectral(V - V0) * 2)


def test_the_share_of_the_initial_weights_is_all_of_an_untrained_network(trained):
    """A D W⁽⁰⁾(x, 1) is then out₁, and nothing has travelled."""
    network, _, start, X = trained
    found = proof_diagnostics(network, start, start, X, tau_w=1.0, tau_v=1.0)
    rows = torch.cat([X, torch.ones(len(X), 1, dtype=torch.float64)], dim=1)
    out1 = torch.relu(rows @ start["W"][0].T) @ start["A"][0].T
    assert found.first.largest == pytest.approx(float(out1.norm(dim=1).max()))
    assert found.travelled_w == found.travelled_v == 0
    assert set(found.to_dict()["first"]) == {"largest", "mean", "largest_operator", "mean_operator"}
