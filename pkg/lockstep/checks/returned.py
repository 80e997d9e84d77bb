"""What a plain exercise's call has returned, as plain data; and the value again, in the process that judges.

    None, bool, int, float, str, a tensor, a list         as they are
    tuple, dict, set, array, complex number               {"tuple": [...]}, {"dict": [[key, value], ...]} ...
    anything else: a generator, an object of a class      `Other`, with its type

In the learner's process only ``watch`` and ``on_rank`` run, and what they call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy
import torch

from lockstep.checks.plain import Other, plain

DEEP = 12  # levels of lists in lists
MOST = 100_000  # values in all
FORGED = Other("value that is no plain data")


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What ``fn`` returns."""
    return as_data(fn(*arguments))


def on_rank(fn: Any, arguments: tuple[Any, ...]) -> Any:
    """The same of a function that was not written to take a group: ``fn`` would hand it one."""
    return as_data(fn.func(*arguments))


def as_data(value: Any) -> Any:
    """``value`` as plain data."""
    return _data(value, DEEP, [MOST])


def _data(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0 or not depth:
        return Other(type(value).__name__, "too large, or nested too deeply")
    if isinstance(value, (list, deque, range)):
        return [_data(v, depth - 1, left) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [_data(v, depth - 1, left) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[_data(k, depth - 1, left), _data(v, depth - 1, left)] for k, v in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"set": [_data(v, depth - 1, left) for v in value]}
    if isinstance(value, numpy.ndarray):
        return _array(value)
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, torch.nn.Module):
        return Other(type(value).__name__)
    return plain(value)


def _array(value: numpy.ndarray[Any, Any]) -> Any:
    try:
        return {"array": plain(torch.from_numpy(numpy.array(value)))}
    except TypeError:  # text, objects, numbers that torch has not
        return Other("array", f"of the type {value.dtype}")


def value_of(data: Any) -> Any:
    """The value that plain data stands for. Whatever else somebody may have sent is an `Other`."""
    if isinstance(data, list):
        return [value_of(v) for v in data]
    if not isinstance(data, dict):
        return data
    with suppress(Exception):
        ((kind, content),) = data.items()
        if kind == "tuple":
            return tuple(value_of(v) for v in content)
        if kind == "dict":
            return {value_of(key): value_of(value) for key, value in content}
        if kind == "set":
            return {value_of(v) for v in content}
        if kind == "array":
            return content.numpy()
        if kind == "complex":
            return complex(*content)
    return FORGED
