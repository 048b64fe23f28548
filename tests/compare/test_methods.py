import pytest

from widenet.base.errors import InputError
from widenet.compare.kernels import network_kernel
from widenet.compare.methods import NETWORK_KERNELS, NETWORKS, all_methods, methods_by_name
from widenet.networks.names import network_by_name


def test_names_are_promises():
    assert list(all_methods(8, 2)) == [
        "2layer-all",
        "2layer-hidden",
        "3layer-all",
        "3layer-hidden",
        "3resnet-all",
        "3resnet-hidden",
        "relu2-all",
        "relu2-last",
        "relu3-all",
        "relu3-last",
        "resnet3-all",
        "resnet3-last",
        "gaussian",
        "laplacian",
        "arcsin",
        "recursive",
        "polynomial",
        "random-features",
        "ridge",
        "forest",
        "boosting",
    ]
    assert all(network_by_name(name, 4) for name in NETWORKS)
    assert all(network_kernel(name) for name in NETWORK_KERNELS)


def test_groups_and_repetitions():
    chosen = methods_by_name(["ridge", "baselines", "arcsin", "ridge"], 8, 2)
    assert [method.name for method in chosen] == ["ridge", "forest", "boosting", "arcsin"]
    assert len(methods_by_name([], 8, 2)) == 21


def test_an_unknown_method_names_near_ones_and_all():
    with pytest.raises(InputError) as error:
        methods_by_name(["gausian"], 8, 2)
    assert "did you mean gaussian" in str(error.value)
    assert "2layer-all, 2layer-hidden" in str(error.value)
    with pytest.raises(InputError, match="Methods: 2layer-all"):
        methods_by_name(["zzzzzz"], 8, 2)
