"""The device of the tests refuses what a graphics card refuses, and computes what the CPU does."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch


@pytest.fixture
def x(toy) -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3).to(toy)


def test_it_computes_what_the_cpu_does(x, toy):
    rows = torch.arange(6.0).reshape(2, 3)
    assert x.device == toy
    assert (x @ x.T).tolist() == (rows @ rows.T).tolist()
    assert torch.equal((x + torch.tensor(2.0)).cpu(), rows + 2)
    assert x[torch.tensor([1])].tolist() == [[3.0, 4.0, 5.0]]
    assert torch.equal((x[0] @ x.T).cpu(), rows[0] @ rows.T)  # torch itself changes a shape in place here
    assert float(x.sum()) == 15
    x.T[0] = 7
    assert x.tolist() == [[7.0, 1.0, 2.0], [7.0, 4.0, 5.0]]


MAKERS = (torch.ones, torch.zeros, torch.eye, torch.arange, torch.tensor)


def test_what_is_made_there_is_there_in_every_thread(x):
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(lambda: [each(2, device=x.device) for each in MAKERS]).result()
    assert all(each.device == x.device for each in made)
    assert [each.tolist() for each in made] == [each(2).tolist() for each in MAKERS]


def test_gradients_pass_through_it(toy):
    x = torch.tensor([3.0], device=toy).requires_grad_()
    x.square().sum().backward()
    assert x.grad.tolist() == [6.0]


REFUSED = {
    "a sum with the CPU": lambda x: x + torch.ones(3),
    "a product with the CPU": lambda x: torch.ones(2) @ x,
    "rows of the CPU joined to its own": lambda x: torch.cat([x, torch.ones(1, 3)]),
    "rows of the CPU at its indices": lambda x: torch.ones(3)[x[0].long()],
    "values of the CPU put into it": lambda x: x.index_put_((torch.tensor([0]),), torch.ones(3)),
    "its values added to those of the CPU": lambda x: torch.ones(3).add_(x[0]),
    "a result in the memory of the CPU": lambda x: torch.mm(x, x.T, out=torch.empty(2, 2)),
    "a draw from a generator of the CPU": lambda x: torch.randn(
        3, generator=torch.Generator(), device=x.device
    ),
    "a draw in place": lambda x: x.normal_(generator=torch.Generator()),
    "its memory as an array": lambda x: x.numpy(),
    "an array": np.asarray,
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_refuses(x, what):
    with pytest.raises((RuntimeError, TypeError), match=r"device|toy"):
        REFUSED[what](x)


def test_what_torch_does_for_all_devices_still_works(toy):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        first = torch.rand(1)
        torch.manual_seed(0)
        assert torch.equal(torch.rand(1), first)
