"""Pickling for a run without data: arguments of ranks become fake tensors, what they return becomes meta tensors.

Every tensor among the arguments, in a module or in a closure becomes a fake one as it is unpickled, also one on the
"meta" device, so that an argument of any size costs nothing. A fake tensor that is returned comes back as a meta tensor
with its shape, strides and dtype.

(A module of its own: the caller of ``run`` imports it to unpickle a meta tensor, and nothing else of the simulation.)
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import cloudpickle
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode


class _Unpickler(pickle.Unpickler):
    def __init__(self, blob: bytes, mode: FakeTensorMode) -> None:
        super().__init__(io.BytesIO(blob))
        self._mode = mode

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        if module == "torch._utils" and name.startswith(("_rebuild_tensor", "_rebuild_meta_tensor")):
            return lambda *args: fake(found(*args), self._mode)
        return found


def fake(tensor: torch.Tensor, mode: FakeTensorMode) -> torch.Tensor:
    """The same tensor without data, on the CPU as all tensors of a virtual rank. Views still share a storage."""
    if not tensor.is_meta:
        return mode.from_tensor(tensor)
    with mode:
        shape, stride = tensor.shape, tensor.stride()
        return torch.empty_strided(shape, stride, dtype=tensor.dtype, requires_grad=tensor.requires_grad)


def loads(blob: bytes, mode: FakeTensorMode) -> Any:
    """The function and arguments of a rank, with fake tensors of ``mode``.

    The memo is cleared because a module that is imported meanwhile may keep an exception, hence the frames above it and
    this unpickler, which must not keep tensors alive: a parameter that is given new content frees the old one."""
    unpickler = _Unpickler(blob, mode)
    value = unpickler.load()
    unpickler.memo.clear()
    return value


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, FakeTensor):
            is_parameter = isinstance(value, torch.nn.Parameter)
            return meta, (tuple(value.shape), value.stride(), value.dtype, value.requires_grad, is_parameter)
        if isinstance(value, torch.Tensor) and hasattr(value, "to_local"):
            raise TypeError("a DTensor has no meaning outside its ranks: return its .to_local()")
        return super().reducer_override(value)


def meta(
    shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype, requires_grad: bool, is_parameter: bool
) -> torch.Tensor:
    tensor = torch.empty_strided(shape, stride, dtype=dtype, device="meta")
    if is_parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def dumps(value: Any) -> bytes:
    stream = io.BytesIO()
    _Pickler(stream).dump(value)
    return stream.getvalue()
