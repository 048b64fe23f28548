import pytest

from widenet.base.errors import InputError
from widenet.networks.names import network_by_name, network_names
from widenet.networks.resnet import GeneralResNet, ResNet


@pytest.mark.parametrize("name", network_names())
def test_names_come_back(name) -> None:
    network = network_by_name(name, 12)
    assert network.name == name
    assert network.width == 12


def test_the_names_of_the_papers_are_there() -> None:
    assert {"2layer-all", "3layer-hidden", "3resnet-all", "3resnet-last"} <= set(network_names())
    assert isinstance(network_by_name("3resnet-hidden", 3), ResNet)
    assert isinstance(network_by_name("3resnet-general-hidden", 3), GeneralResNet)


def test_unknown_names_get_the_near_ones_and_all() -> None:
    with pytest.raises(InputError, match="no network '3resnet-al': did you mean '3resnet-all'") as refused:
        network_by_name("3resnet-al", 10)
    for name in network_names():
        assert name in str(refused.value)
    with pytest.raises(InputError, match=r"no network 'transformer'\. Networks: 2layer-all"):
        network_by_name("transformer", 10)


@pytest.mark.parametrize("width", [0, -3])
def test_a_width_must_be_positive(width) -> None:
    with pytest.raises(InputError, match=f"must be positive, not {width}"):
        network_by_name("2layer-all", width)
