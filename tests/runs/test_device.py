import pytest
import torch

from widenet.base.errors import InputError
from widenet.runs import device as module
from widenet.runs.device import CPU, device_named, usable_on


def test_devices_that_are_here_are_found_by_their_names(toy):
    assert device_named("cpu") == device_named("cpu:0") == CPU
    assert device_named("toy").type == "toy"
    assert device_named("toy:0") == toy


@pytest.mark.parametrize("name", ["gpu", "", "cuda:99", "cuda:x", "meta", "xla", "mtia"])
def test_devices_that_are_not_are_refused_in_one_sentence(name):
    with pytest.raises(
        InputError, match=rf"^There is no device '{name}' here, as torch finds only cpu.*: leave `device` out"
    ):
        device_named(name)


def test_devices_without_double_precision_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_computes", lambda name, dtype: dtype == torch.float32)
    with pytest.raises(InputError, match="'mps' has no double precision"):
        device_named("mps")


def test_workers_of_a_cluster_have_no_device(toy):
    assert device_named("cpu", "tcp://127.0.0.1:1") == CPU
    with pytest.raises(InputError, match="leave `device` or `cluster` out"):
        device_named("toy", "tcp://127.0.0.1:1")


def test_a_card_is_planned_with_what_is_free_on_it_and_here(monkeypatch):
    monkeypatch.setattr(module, "usable_bytes", lambda: 1000)
    for free, usable in ((500, 400), (5000, 1000)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, free=free: (free, 10**6))
        assert usable_on(torch.device("cuda:1")) == usable
    assert usable_on(CPU) == 1000


@pytest.mark.parametrize("given", [None, torch.device("cpu"), 0])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(InputError, match="is the name of one"):
        device_named(given)
