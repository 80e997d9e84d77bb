"""A GPU that is not there: tensors that say they are on another device, and refuse what a real one would refuse.

Their data is in the host's memory, in ``held``; every operation is carried out there. Tensors of two devices do not go
into one operation, and a message leaves from a fake GPU only. So a program that runs here says where each of its
tensors is to be made.

The device is called "lazy", a name that torch knows and has nothing for: "cuda" and others it would look for.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

FAKE = "lazy"
INDEXING = ("aten::index.", "aten::index_put", "aten::_index_put_impl_")


class OnFakeGpu(torch.Tensor):
    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor, device: torch.device) -> OnFakeGpu:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=device,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return carry_out(func, args, kwargs or {})


class FromData(TorchFunctionMode):
    """``torch.tensor(numbers, device=...)``, ``x.new_tensor(numbers)``, ``x.tolist()``: torch would do them below our
    dispatch."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.tensor:
            device = kwargs.pop("device", "cpu")
            return func(*args, **kwargs).to(device)
        if func is torch.Tensor.new_tensor and isinstance(args[0], OnFakeGpu):
            return torch.tensor(*args[1:], **{"dtype": args[0].dtype} | kwargs).to(args[0].device)
        if func is torch.Tensor.tolist and isinstance(args[0], OnFakeGpu):
            return args[0].held.tolist()
        return func(*args, **kwargs)


class FakeGpus(TorchDispatchMode):
    """While it is entered, tensors can be made on fake GPUs and moved to them."""

    def __enter__(self) -> Any:
        self.from_data = FromData()
        self.from_data.__enter__()
        return super().__enter__()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self.from_data.__exit__(*raised)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return carry_out(func, args, kwargs or {})


def carry_out(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    bound = _bound(func, args, given)
    devices = {t.device for t in bound if t.dim()} or {t.device for t in bound}
    moves = func.name() in ("aten::_to_copy", "aten::copy_")
    if func.namespace == "c10d" and any(t.device.type != FAKE and t.numel() for t in given):
        raise RuntimeError("a message from the host's memory, and NCCL carries the GPUs' only")
    if len(devices) > 1 and not moves:
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {sorted(map(str, devices))}")
    device = kwargs.get("device") or (given[0].device if moves else next(iter(devices), torch.device("cpu")))
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    owners = {id(t.held): t for t in given if isinstance(t, OnFakeGpu)}
    out = func(*_held(args), **_held(kwargs))
    if torch.device(device).type != FAKE:
        return out
    return tree_map_only(torch.Tensor, lambda t: owners[id(t)] if id(t) in owners else OnFakeGpu(t, device), out)


def _bound(func: Any, args: Any, given: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those that must be on one device. What a GPU holds may be indexed by places in the host's memory."""
    if func.name().startswith(INDEXING) and args[0].device.type == FAKE:
        places = [id(t) for t in tree_leaves(args[1])]
        return [t for t in given if id(t) not in places]
    return given


def _held(tree: Any) -> Any:
    return tree_map_only(OnFakeGpu, lambda t: t.held, tree)
