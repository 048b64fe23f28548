"""Kernels by name."""

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels.layers import Dense, Relu
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import ACTIVATIONS, CLASSICAL, kernel_by_name, kernel_names
from widenet.kernels.networks import Serial
from widenet.testing import unit_rows


@pytest.mark.parametrize("name", kernel_names())
def test_every_listed_name_gives_a_kernel_of_that_name(name: str) -> None:
    kernel = kernel_by_name(name)
    assert kernel.name.split(":")[0] == name
    assert kernel_by_name(kernel.name).name == kernel.name


def test_options_reach_the_kernel() -> None:
    assert kernel_by_name("gaussian:h=0.5").name == "gaussian:h=0.5"
    assert kernel_by_name("polynomial:degree=2,offset=0").name == "polynomial:degree=2,offset=0"


@pytest.mark.parametrize("activation", ["relu", "erf"])
def test_middle_layers_keep_the_scale_of_unit_rows(activation: str) -> None:
    rows = torch.eye(3, dtype=torch.float64)
    shallow, deep = (kernel_by_name(f"{activation}{depth}-last").diag(rows) for depth in (2, 9))
    torch.testing.assert_close(shallow, deep)


@pytest.mark.parametrize("mode", ["all", "hidden", "last"])
def test_kernels_with_biases_have_a_name_of_their_own(mode: str, generator: torch.Generator) -> None:
    X = unit_rows(5, 3, generator=generator)
    kernel = kernel_by_name(f"relu3-bias-{mode}")
    layers = (Dense(bias_var=1.0), Relu(), Dense(bias_var=1.0), Relu(), Dense())
    torch.testing.assert_close(gram_matrix(kernel, X), gram_matrix(Serial(*layers, trained=mode), X))
    assert not torch.allclose(gram_matrix(kernel, X), gram_matrix(kernel_by_name(f"relu3-{mode}"), X))


def test_an_activation_and_a_classical_kernel_are_one_line_each(
    monkeypatch, generator: torch.Generator
) -> None:
    X = unit_rows(4, 3, generator=generator)
    monkeypatch.setitem(ACTIVATIONS, "ramp", (Relu(), 2.0, "ramp"))
    monkeypatch.setitem(CLASSICAL, "bell", CLASSICAL["gaussian"])
    for added, known in (
        ("ramp4-all", "relu4-all"),
        ("ramp2-bias-last", "relu2-bias-last"),
        ("bell", "gaussian"),
    ):
        torch.testing.assert_close(
            gram_matrix(kernel_by_name(added), X), gram_matrix(kernel_by_name(known), X)
        )
    assert {"ramp2-all", "ramp3-bias-hidden", "bell"} <= set(kernel_names())


def test_a_misspelt_name_gets_near_names() -> None:
    with pytest.raises(InputError, match=r"no kernel 'relu2-hiden': did you mean 'relu2-hidden'") as caught:
        kernel_by_name("relu2-hiden")
    assert "gaussian" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("relu1-all", "has 1 layers; choose from 2 to 256"),
        ("relu999-all", "has 999 layers"),
        ("relu1-bias-all", "has 1 layers; choose from 2 to 256"),
        ("gaussian:width=2", "Kernel 'gaussian' has no option 'width': there are 'h'"),
        ("arcsin:h=2", "Kernel 'arcsin' has no option 'h': it has none"),
        ("gaussian:h=wide", "Kernel 'gaussian' needs a finite number after h=, not 'wide'"),
        ("gaussian:h=1,h=2", "Kernel 'gaussian' is given h more than once"),
        ("gaussian:h=0", "h is 0"),
        ("polynomial:degree=2.5", "needs a whole number after degree="),
        ("", "no kernel ''"),
    ],
)
def test_wrong_names_and_options_are_explained(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel_by_name(name)
