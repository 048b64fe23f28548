import pytest
import torch

from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import network_outputs


def test_two_layers_are_the_sum_over_neurons(draw, generator) -> None:
    """[beyond-two-layers, section 3]: f_r = Σ_i a_{r,i} σ(⟨w_i, x⟩ + b_i)."""
    network = TwoLayers(4)
    params = draw(network, 3, 2, 1)
    W, A, x = params["W"][0], params["A"][0], torch.randn(3, generator=generator, dtype=torch.float64)
    for r in range(2):
        total = sum(float(A[r, i]) * max(float(W[i, :3] @ x + W[i, 3]), 0.0) for i in range(4))
        assert float(network_outputs(network, params, x[None])[0, 0, r]) == pytest.approx(total, abs=1e-14)


def test_three_layers_are_the_sum_over_neurons(draw, generator) -> None:
    """[beyond-two-layers, section 4]: f_r = Σ_i a_{r,i} σ(Σ_j v_{i,j} σ(⟨w_j, x⟩ + b_{1,j}) + b_{2,i})."""
    network = ThreeLayers(4)
    params = draw(network, 3, 2, 1)
    W, V, A = (params[name][0] for name in "WVA")
    x = torch.randn(3, generator=generator, dtype=torch.float64)
    first = [max(float(W[j, :3] @ x + W[j, 3]), 0.0) for j in range(4)]
    second = [max(sum(float(V[i, j]) * first[j] for j in range(4)) + float(V[i, 4]), 0.0) for i in range(4)]
    for r in range(2):
        total = sum(float(A[r, i]) * second[i] for i in range(4))
        assert float(network_outputs(network, params, x[None])[0, 0, r]) == pytest.approx(total, abs=1e-14)


@pytest.mark.parametrize("kind", [TwoLayers, ThreeLayers])
def test_moved_parameters(kind) -> None:
    hidden = {TwoLayers: ("W",), ThreeLayers: ("W", "V")}[kind]
    assert kind(5, "hidden").moved == hidden
    assert kind(5, "last").moved == ("A",)
    assert kind(5, "all").moved == (*hidden, "A")
