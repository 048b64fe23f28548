"""A device for tests, `toy`: it computes on the CPU, and refuses what a graphics card refuses.

Its tensors hold one of the CPU that nobody else reaches. Operations are refused that mix both devices
(tensors of no dimension and indices may come from the CPU, as for CUDA), that draw from a generator of the
CPU, or that hand the memory to numpy. Results are those of the CPU, bit for bit.
"""

from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._mode_utils import no_dispatch
from torch.utils._pytree import tree_leaves, tree_map_only

NAME = "toy"
aten = torch.ops.aten
COPIES = {aten.copy_.default, aten._to_copy.default}  # they lead from one device to the other
INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
# Torch makes these by resizing an empty tensor, which one that wraps another does not notice.
FACTORIES = (aten.arange.default, aten.arange.start, aten.arange.start_step, aten.eye.default, aten.eye.m)
RESIZING = {aten.linalg_cholesky_ex.L}  # what tells of failures, which only torch itself reads
# What is registered lasts as long as these do.
ALL, ATEN = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")


class ToyTensor(Tensor):
    """A tensor on the device."""

    inner: Tensor  # of the CPU, with the same shape and strides

    @staticmethod
    def __new__(cls, inner: Tensor) -> "ToyTensor":
        tensor: ToyTensor = Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=torch.device(NAME, 0),
        )
        tensor.inner = inner
        return tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(
        cls, operation: Any, types: Any, args: tuple[Any, ...] = (), options: dict[str, Any] | None = None
    ) -> Any:
        return computed(operation, args, options or {})

    def tolist(self) -> Any:
        return self.inner.tolist()

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(f"can't convert {self.device} device type tensor to numpy")

    def __repr__(self) -> str:
        return f"{self.inner!r} on {self.device}"


def register() -> torch.device:
    """Make the device known to torch, once in a process."""
    if torch._C._get_privateuse1_backend_name() != NAME:
        backend_registration._setup_privateuseone_for_python_backend(NAME)
        ALL.fallback(_registered, "PrivateUse1")
        # `torch.tensor` copies without asking `__torch_dispatch__`, where the fallback refuses what has one.
        for each in (aten.copy_.default, *FACTORIES):
            ATEN.impl(each, partial(_registered, each), "PrivateUse1")
    return torch.device(NAME, 0)


def _registered(operation: Any, *args: Any, **options: Any) -> Any:
    return computed(operation, args, options)


def computed(operation: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of an operation that has one of our tensors among its arguments, or makes one."""
    refuse(operation, args, options)
    wrappers: dict[int, ToyTensor] = {}

    def unwrapped(tensor: ToyTensor) -> Tensor:
        wrappers[id(tensor.inner)] = tensor
        return tensor.inner

    inner_args, inner_options = tree_map_only(ToyTensor, unwrapped, (args, options))
    target = inner_options.get("device")
    if target is not None:
        inner_options["device"] = torch.device("cpu")
    shapes = [tensor.inner.shape for tensor in wrappers.values()]
    found = operation(*inner_args, **inner_options)
    if torch.Tag.inplace_view in operation.tags:  # changes the shape, of what wraps as well
        with no_dispatch():
            operation(*args, **options)
    elif operation not in RESIZING:
        assert shapes == [tensor.inner.shape for tensor in wrappers.values()], f"{operation} resizes"
    leaves = target is not None and target.type == "cpu"
    if leaves or (operation is aten.copy_.default and not isinstance(args[0], ToyTensor)):
        return found
    return tree_map_only(
        Tensor, lambda each: wrappers[id(each)] if id(each) in wrappers else ToyTensor(each), found
    )


def refuse(operation: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Refuse what mixes devices."""
    if options.get("generator") is not None:
        raise RuntimeError(f"Expected a '{NAME}' device type for generator but found 'cpu'")
    if operation in COPIES:
        return
    if operation in INDEXING:
        args = (args[0], *args[2:])
    for each in tree_leaves((args, options)):
        is_ours = isinstance(each, ToyTensor) or not isinstance(each, Tensor)
        if not is_ours and (each.ndim or torch.Tag.pointwise not in operation.tags):
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found {NAME} and a tensor of shape "
                f"{tuple(each.shape)} on cpu in {operation}"
            )


def numbers(value: Any) -> Any:
    """All numbers of a result, to be compared with those of the same on another device."""
    if isinstance(value, Tensor):
        return value.tolist()
    if is_dataclass(value):
        return {each.name: numbers(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {key: numbers(part) for key, part in value.items()}
    return [numbers(part) for part in value] if isinstance(value, list | tuple) else value
