"""Kernels by name."""

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels.names import kernel_by_name, kernel_names


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


def test_a_misspelt_name_gets_near_names() -> None:
    with pytest.raises(InputError, match=r"no kernel 'relu2-hiden'. Did you mean relu2-hidden") as caught:
        kernel_by_name("relu2-hiden")
    assert "gaussian" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("relu1-all", "has 1 layers; choose from 2 to 256"),
        ("relu999-all", "has 999 layers"),
        ("gaussian:width=2", "no option 'width'; its options: h"),
        ("arcsin:h=2", "its options: none"),
        ("gaussian:h=wide", "needs a number after h=, not 'wide'"),
        ("gaussian:h=0", "h is 0"),
        ("polynomial:degree=2.5", "needs a whole number after degree="),
        ("", "no kernel ''"),
    ],
)
def test_wrong_names_and_options_are_explained(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel_by_name(name)
