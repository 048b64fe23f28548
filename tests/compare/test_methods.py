import pytest

from widenet.base.errors import InputError
from widenet.compare.estimators import EstimatorMethod
from widenet.compare.methods import METHODS, NETWORK_KERNELS, NETWORKS, always, methods_by_name
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.kernels.names import kernel_by_name
from widenet.networks.names import network_by_name


def test_names_are_promises():
    assert list(METHODS) == [
        "2layer-all",
        "2layer-hidden",
        "3layer-all",
        "3layer-hidden",
        "3resnet-all",
        "3resnet-hidden",
        "relu2-bias-all",
        "relu2-bias-last",
        "relu3-bias-all",
        "relu3-bias-last",
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
    assert [method.name for method in methods_by_name([], 8, 2)] == list(METHODS)
    assert all(kernel_by_name(name) for name in NETWORK_KERNELS)


def test_groups_and_repetitions():
    chosen = methods_by_name(["ridge", "baselines", "arcsin", "ridge"], 8, 2)
    assert [method.name for method in chosen] == ["ridge", "forest", "boosting", "arcsin"]
    assert len(methods_by_name([], 8, 2)) == 21


def test_an_unknown_method_names_near_ones_and_all():
    with pytest.raises(InputError) as error:
        methods_by_name(["gausian"], 8, 2)
    assert "did you mean 'gaussian'" in str(error.value)
    assert "2layer-all, 2layer-hidden" in str(error.value)
    with pytest.raises(InputError, match="Methods: 2layer-all"):
        methods_by_name(["zzzzzz"], 8, 2)


def test_a_kernel_without_biases_is_no_method():
    with pytest.raises(InputError, match=r"no method 'relu2-all': did you mean .*'relu2-bias-all'"):
        methods_by_name(["relu2-all"], 8, 2)


def test_a_method_is_one_line(monkeypatch, binary):
    from sklearn.neighbors import KNeighborsClassifier

    monkeypatch.setitem(
        METHODS, "knn", always(EstimatorMethod("knn", lambda classes: KNeighborsClassifier(3)))
    )
    assert [method.name for method in methods_by_name(["baselines"], 8, 2)][-1] == "knn"
    result = run_compare(binary, CompareSettings(methods=("knn", "arcsin"), folds=3))
    assert {method.name: method.family for method in result.methods} == {
        "knn": "baseline",
        "arcsin": "kernel",
    }
    assert result.methods[-1].error < 0.3
