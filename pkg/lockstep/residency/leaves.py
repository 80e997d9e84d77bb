"""Which tensors there are in what a program holds: arguments of operations, functions, tensors made of tensors."""

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
    """The values of the names that ``function`` uses and does not make: they are copied to every rank with it."""
    try:
        found = inspect.getclosurevars(function)
    except ValueError:  # a name that has no value yet
        return []
    return [*found.nonlocals.values(), *found.globals.values()]


def is_parameter(tensor: torch.Tensor) -> bool:
    return type(tensor) is Parameter or (type(tensor) is not torch.Tensor and isinstance(tensor, Parameter))


def has_memory(tensor: torch.Tensor, mode: FakeTensorMode | None) -> bool:
    """False for a shape without data, on "meta" or fake. But in a rank without data the fake tensors of its ``mode``
    stand for tensors with data, unless the program has asked for "meta". (That their storages are on this device, too,
    is torch's way to have none.)"""
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
    """The tensors in the arguments of an operation: single, or in lists."""
    found: list[torch.Tensor] = []
    for leaf in tree:
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif isinstance(leaf, list | tuple):
            found += tensors_of(leaf)
    return found


def wrapped(tensor: Any) -> list[torch.Tensor]:
    """What holds the data of a DTensor, or of another tensor that is made of tensors; nothing for plain ones."""
    if type(tensor) is torch.Tensor or not is_traceable_wrapper_subclass(tensor):
        return []
    names, _ = tensor.__tensor_flatten__()
    return list(tensors_of(getattr(tensor, name) for name in names))
