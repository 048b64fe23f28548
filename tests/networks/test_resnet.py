import pytest
import torch
from torch.testing import assert_close

from widenet.networks.network import network_outputs
from widenet.networks.resnet import GeneralResNet, ResNet


def test_outputs_are_those_of_the_paper(draw, generator) -> None:
    """[resnet-beyond-kernels, section 6.1]: written with the diagonal matrices D_W and D_{V,W}."""
    network = ResNet(5)
    params = draw(network, 3, 2, 1)
    W, V, A = (params[name][0] for name in "WVA")
    x = torch.cat(
        [torch.randn(3, generator=generator, dtype=torch.float64), torch.ones(1, dtype=torch.float64)]
    )
    out1 = A @ torch.diag((W @ x >= 0).double()) @ W @ x
    y = torch.cat([out1, torch.ones(1, dtype=torch.float64)])
    expected = out1 + A @ torch.diag((V @ y >= 0).double()) @ V @ y
    assert_close(network_outputs(network, params, x[None, :3])[0, 0], expected, rtol=1e-13, atol=1e-13)


def test_the_general_network_with_a_factored_matrix_is_the_resnet(draw, generator) -> None:
    """[resnet-beyond-kernels, section 2]: U = V A, with the biases b₂ in its last column."""
    network, general = ResNet(7), GeneralResNet(7)
    params = draw(network, 4, 3, 3)
    V, A = params["V"], params["A"]
    U = torch.cat([V[..., :-1] @ A, V[..., -1:]], dim=-1)
    X = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    assert U.shape[1:] == general.shapes(4, 3)["U"]
    assert_close(
        network_outputs(general, {"W": params["W"], "U": U, "A": A}, X),
        network_outputs(network, params, X),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize(("kind", "hidden"), [(ResNet, ("W", "V")), (GeneralResNet, ("W", "U"))])
def test_moved_parameters(kind, hidden) -> None:
    assert kind(5, "hidden").moved == hidden
    assert kind(5, "last").moved == ("A",)
    assert kind(5, "all").moved == (*hidden, "A")
