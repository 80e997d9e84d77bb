"""The tensors in nested data: arguments of operations, closures of functions, wrapper subclasses such as DTensor."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn import Parameter
from torch.utils._python_dispatch import is_traceable_wrapper_subclass


def closed_over(function: FunctionType) -> list[Any]:
    """The values of a function's nonlocal and global names, which are copied to every rank with it."""
    try:
        found = inspect.getclosurevars(function)
    except ValueError:  # a name that has no value yet
        return []
    return [*found.nonlocals.values(), *found.globals.values()]


def is_parameter(tensor: torch.Tensor) -> bool:
    return type(tensor) is Parameter or (type(tensor) is not torch.Tensor and isinstance(tensor, Parameter))


def has_memory(tensor: torch.Tensor, mode: FakeTensorMode | None) -> bool:
    """Whether a tensor counts as memory: not on "meta", nor if it is fake. But in a rank without data, fake tensors of
    its ``mode`` take the place of tensors with data, unless their device is "meta". (All fake tensors have storages on
    the meta device.)"""
    if type(tensor) is FakeTensor:
        return tensor.fake_mode is mode and tensor.fake_device.type != "meta"
    return not tensor.is_meta


def requires_grad(args: Iterable[Any]) -> bool:
    for leaf in args:
        if isinstance(leaf, torch.Tensor):
            if leaf.requires_grad:
                return True
        elif isinstance(leaf, list | tuple) and requires_grad(leaf):
            return True
    return False


def tensors_of(tree: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors in the arguments of an operation, also those in lists."""
    found: list[torch.Tensor] = []
    for leaf in tree:
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif isinstance(leaf, list | tuple):
            found += tensors_of(leaf)
    return found


def wrapped(tensor: Any) -> list[torch.Tensor]:
    """The inner tensors of a wrapper subclass such as DTensor; none for a plain tensor."""
    if type(tensor) is torch.Tensor or not is_traceable_wrapper_subclass(tensor):
        return []
    names, _ = tensor.__tensor_flatten__()
    return list(tensors_of(getattr(tensor, name) for name in names))
