"""``device="cuda"`` in a run without data.

A virtual rank has one device, that of its cluster, and torch knows it as "cpu". A program that says "cuda" (or "mps",
or "xpu") means it. So what is made or moved there is made on it, and what is there already stays: a move costs nothing.
Without this torch would take the path without fused kernels, or abort in the first backward pass where it was built
without CUDA. The "meta" device stays what it is: shapes without memory.

Module.to, .half, .to_empty and their like give each parameter a new content. With data they set ``.data``; fake tensors
torch would exchange, which their mode's weak references forbid. Here they are set like those with data.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

HERE = torch.device("cpu")
KNOWN = ("cpu", "meta")


def here(device: Any) -> Any:
    """The device that is meant; what is none is left as it is. A number is that of a GPU."""
    if isinstance(device, bool) or not isinstance(device, int | str | torch.device):
        return device
    if isinstance(device, int):
        return HERE
    return device if torch.device(device).type in KNOWN else HERE


def to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    if "device" in kwargs:
        kwargs["device"] = here(kwargs["device"])
    return torch.Tensor.to(tensor, *(here(a) for a in args[:1]), *args[1:], **kwargs)


def stay(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return tensor


def install() -> None:
    """Once in a process."""
    for name, method in {"to": to, "cuda": stay, "xpu": stay}.items():
        setattr(FakeTensor, name, method)
    swap = torch.utils.swap_tensors

    def give_content(a: torch.Tensor, b: torch.Tensor) -> None:
        """To ``a`` that of ``b``, which is needed no more."""
        if not isinstance(a, FakeTensor):
            swap(a, b)  # type: ignore[no-untyped-call]
        elif torch._has_compatible_shallow_copy_type(a, b):
            a.data = b
        else:  # to "meta", or from there
            a.__dict__, b.__dict__ = b.__dict__, a.__dict__
            torch._C._swap_tensor_impl(a, b)

    setattr(torch.utils, "swap_tensors", give_content)  # noqa: B010
