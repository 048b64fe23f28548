import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.testing import assert_close

from widenet.training.losses import LOSSES

S, B, K = 3, 11, 4


@pytest.fixture
def out(generator) -> Tensor:
    return 2 * torch.randn(S, B, K, generator=generator, dtype=torch.float64)


def targets(name: str, generator: torch.Generator, k: int = K) -> Tensor:
    values = 2 * torch.randn(B, k, generator=generator, dtype=torch.float64)
    return values.softmax(-1) if name == "cross-entropy" else values


def library_loss(name: str, out: Tensor, Y: Tensor) -> Tensor:
    """The loss of every row by torch.nn.functional, shape (s, b)."""
    Y = Y.expand_as(out)
    if name == "cross-entropy":
        return functional.cross_entropy(out.flatten(0, 1), Y.flatten(0, 1), reduction="none").view(
            out.shape[:2]
        )
    if name == "squared":
        return functional.mse_loss(out, Y, reduction="none").sum(-1) / 2
    return {"l1": functional.l1_loss, "huber": functional.huber_loss}[name](out, Y, reduction="none").sum(-1)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("k", [1, K])
def test_values_and_slopes_are_those_of_the_library(name, k, out, generator) -> None:
    out, Y = out[..., :k].contiguous().requires_grad_(), targets(name, generator, k)
    expected = library_loss(name, out, Y)
    (slopes,) = torch.autograd.grad(expected.sum(), out)
    values = out.detach().clone()
    assert_close(LOSSES[name].values(values, Y), expected.detach(), rtol=1e-12, atol=1e-12)
    found = LOSSES[name].slopes_(values, Y)
    assert found is values
    assert_close(found, slopes, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["l1", "huber", "cross-entropy"])
def test_slopes_are_bounded(name, out, generator) -> None:
    """They are 1-Lipschitz in every output, as [beyond-two-layers, section 3] asks."""
    assert float(LOSSES[name].slopes_(100 * out, targets(name, generator)).abs().max()) <= 1


def test_cross_entropy_of_classes_is_that_of_their_indices(out, generator) -> None:
    classes = torch.randint(K, (B,), generator=generator)
    one_hot = functional.one_hot(classes, K).double()
    expected = functional.cross_entropy(out[0], classes, reduction="none")
    assert_close(LOSSES["cross-entropy"].values(out, one_hot)[0], expected)


def test_cross_entropy_of_large_outputs_is_finite() -> None:
    out, Y = torch.tensor([[[1e4, -1e4]]]), torch.tensor([[0.0, 1.0]])
    assert LOSSES["cross-entropy"].values(out, Y).tolist() == [[2e4]]
    assert LOSSES["cross-entropy"].slopes_(out, Y).tolist() == [[[1, -1]]]


@pytest.mark.parametrize("name", LOSSES)
def test_a_copy_that_is_not_a_number_leaves_the_others(name, out, generator) -> None:
    Y = targets(name, generator)
    broken = out.clone()
    broken[1] = torch.nan
    assert torch.equal(LOSSES[name].values(out, Y)[[0, 2]], LOSSES[name].values(broken, Y)[[0, 2]])
    assert LOSSES[name].values(broken, Y)[1].isnan().all()
    slopes, broken_slopes = (LOSSES[name].slopes_(each.clone(), Y) for each in (out, broken))
    assert torch.equal(slopes[[0, 2]], broken_slopes[[0, 2]])
