"""What ranks hand back to a check, as bytes: JSON, and the bytes of tensors behind it. Reading them runs no code, and
gives None, bool, int, float, str, list, tuple, dict, `Other` and plain tensors, each of exactly this type.

::

    8 bytes         n, the length of the JSON
    n bytes         {"value": ..., "tensors": [["float32", [2, 3]], ...]}
    the rest        the tensors, one behind the other

A list is a JSON list; everything that JSON does not know is an object with one key: {"tuple": [...]},
{"dict": [[key, value], ...]}, {"other": [type, text]}, {"tensor": number}.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import torch

from lockstep.checks.plain import MOST_BITS, SAVED, Other, plain

LENGTH = struct.Struct("<Q")
DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in SAVED}


class Unreadable(Exception):
    """These bytes are no values of a check."""


def encoded(value: Any) -> bytes:
    """``value``, as `plain` makes it, with dicts whose keys are text. Anything else becomes `Other`."""
    tensors: list[torch.Tensor] = []
    told = _told(value, tensors)
    heads = [[str(t.dtype).removeprefix("torch."), list(t.shape)] for t in tensors]
    text = json.dumps({"value": told, "tensors": heads}).encode()  # a lone surrogate is escaped
    return b"".join([LENGTH.pack(len(text)), text, *map(_content, tensors)])


def _is_saved(value: Any) -> bool:
    strided = isinstance(value, torch.Tensor) and value.layout == torch.strided
    return strided and value.dtype in SAVED and value.device.type != "meta"


def _content(tensor: torch.Tensor) -> bytes:
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)  # an expanded one has stride 0
    flat.copy_(tensor.detach().cpu().as_subclass(torch.Tensor).reshape(-1))
    return flat.view(torch.uint8).numpy().tobytes()


def _told(value: Any, tensors: list[torch.Tensor]) -> Any:
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int and value.bit_length() <= MOST_BITS:
        return value
    if type(value) is list:
        return [_told(v, tensors) for v in value]
    if type(value) is tuple:
        return {"tuple": [_told(v, tensors) for v in value]}
    if type(value) is dict and all(type(k) is str for k in value):
        return {"dict": [[k, _told(v, tensors)] for k, v in value.items()]}
    if _is_saved(value):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    other = value if type(value) is Other else plain(value)
    if type(other) is not Other:
        return _told(other, tensors)
    return {"other": [str.__str__(other.type), str.__str__(other.text)]}


def decoded(blob: bytes) -> Any:
    """What `encoded` was given. Raises Unreadable."""
    try:
        (length,) = LENGTH.unpack_from(blob)
        rest = memoryview(blob)[LENGTH.size + length :]
        told = json.loads(blob[LENGTH.size : LENGTH.size + length])
        return _value(told["value"], _tensors(told["tensors"], rest))
    except (ValueError, TypeError, KeyError, IndexError, RuntimeError, RecursionError, struct.error) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from None


def _tensors(heads: list[Any], content: memoryview) -> list[torch.Tensor]:
    found, begin = [], 0
    for name, shape in heads:
        dtype = DTYPES[name]
        end = begin + math.prod(shape) * dtype.itemsize
        piece = bytearray(content[begin:end])  # a copy, that may be written to
        flat = torch.frombuffer(piece, dtype=dtype) if piece else torch.empty(0, dtype=dtype)
        found.append(flat.reshape(shape))
        begin = end
    return found


def _value(told: Any, tensors: list[torch.Tensor]) -> Any:
    if isinstance(told, list):
        return [_value(t, tensors) for t in told]
    if not isinstance(told, dict):
        return told
    ((kind, content),) = told.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "other":
        type_, text = content
        return Other(type_, text)
    if kind == "tuple":
        return tuple(_value(t, tensors) for t in content)
    if kind == "dict":
        return {key: _value(value, tensors) for key, value in content}
    raise ValueError(f"there is no {kind!r}")
