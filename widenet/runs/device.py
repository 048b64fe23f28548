"""The device that work is computed on, by its name."""

from typing import Any

import torch

from widenet.base.errors import InputError
from widenet.base.memory import USABLE_SHARE, usable_bytes
from widenet.base.wording import shown

CPU = torch.device("cpu")
UNUSABLE = (RuntimeError, AssertionError, ImportError, TypeError)  # what torch raises where there is none


def device_named(name: str, cluster: Any = None) -> torch.device:
    """The device of a name such as cpu, cuda or cuda:1; one that cannot be computed on is refused.

    >>> device_named("cpu")
    device(type='cpu')

    Args:
        name: As torch names devices.
        cluster: Where the work is to run; None for this process.
    """
    if not isinstance(name, str):
        raise InputError(f"`device` is the name of one, such as 'cuda:1', not {shown(name)}.")
    if name.partition(":")[0] != CPU.type and cluster is not None:
        raise InputError(
            f"`device` is {shown(name)}, but workers of a cluster compute on their CPUs: leave `device` or "
            "`cluster` out."
        )
    if not _computes(name, torch.float32):
        raise InputError(
            f"There is no device {shown(name)} here, as torch finds only {', '.join(_devices_here())}: "
            "leave `device` out to compute on the CPU."
        )
    if not _computes(name, torch.float64):
        raise InputError(
            f"The device {shown(name)} has no double precision, which widenet needs: "
            "leave `device` out to compute on the CPU."
        )
    found = torch.device(name)
    return CPU if found.type == CPU.type else found  # the processor has numbers, too, but is one


def usable_on(device: torch.device) -> int:
    """Bytes that a job may plan with: those of the machine, and of a graphics card not more than its own.

    Work on a card needs room in both, because bounds are proved on the CPU.
    """
    usable = usable_bytes()
    if device.type != "cuda":
        return usable
    free, _ = torch.cuda.mem_get_info(device)
    return min(usable, int(USABLE_SHARE * free))


def _computes(name: str, dtype: torch.dtype) -> bool:
    """Whether a sum in this precision comes back from the device."""
    try:
        return torch.ones(2, dtype=dtype, device=name).sum().item() == 2
    except UNUSABLE:
        return False


def _devices_here() -> list[str]:
    """The CPU, and those of the accelerator that torch was built for, if they are there."""
    found = torch.accelerator.current_accelerator(check_available=True)
    names = [] if found is None else [f"{found.type}:{i}" for i in range(torch.accelerator.device_count())]
    return [CPU.type, *names]
