"""Tensors that tell when they are read. What is made of them are plain tensors; a view of one tells, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map


def watched(tensors: Mapping[str, Tensor], is_read: Callable[[], None]) -> dict[str, Tensor]:
    """The same tensors, by name; each use of one calls ``is_read`` before it, in the thread that uses it."""

    class Watched(Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            is_read()
            with torch._C.DisableTorchFunctionSubclass():
                of = [t for t in args if isinstance(t, cls)]
                found = func(*tree_map(bare, args), **tree_map(bare, kwargs or {}))
                if isinstance(found, Tensor) and any(shares(found, one) for one in of):
                    return found.as_subclass(cls)
            return found

    return {name: tensor.as_subclass(Watched) for name, tensor in tensors.items()}


def bare(value: Any) -> Any:
    return value.as_subclass(Tensor) if isinstance(value, Tensor) else value


def shares(a: Tensor, b: Tensor) -> bool:
    return a.numel() > 0 and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def unwatched(value: Any) -> Any:
    """Plain tensors of the same memory; nobody is told."""
    with torch._C.DisableTorchFunctionSubclass():
        return {name: bare(one) for name, one in value.items()} if isinstance(value, dict) else value
