"""What ranks hand back to a check, as bytes: JSON, and tensors in the format of safetensors. Reading them runs no code,
and gives None, bool, int, float, str, list, tuple, dict, `Other` and plain tensors, each of exactly this type.

A list is a JSON list; everything that JSON does not know is an object with one key: {"tuple": [...]},
{"dict": [[key, value], ...]}, {"other": [type, text]}, {"tensor": name}.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from lockstep.checks.plain import MOST_BITS, SAVED, Other, plain


class Unreadable(Exception):
    """These bytes are no values of a check."""


def encoded(value: Any) -> bytes:
    """``value``, as `plain` makes it, with dicts whose keys are text. Anything else becomes `Other`."""
    tensors: dict[str, torch.Tensor] = {}
    told = json.dumps(_told(value, tensors))  # one line; a lone surrogate is escaped
    return told.encode() + b"\n" + save(tensors)


def decoded(blob: bytes) -> Any:
    """What `encoded` was given. Raises Unreadable."""
    try:
        told, _, tensors = bytes(blob).partition(b"\n")
        return _value(json.loads(told), load(tensors))
    except (ValueError, TypeError, KeyError, AssertionError, RecursionError, SafetensorError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from None


def _is_saved(value: Any) -> bool:
    strided = isinstance(value, torch.Tensor) and value.layout == torch.strided
    return strided and value.dtype in SAVED and value.device.type != "meta"


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """An expanded one has stride 0."""
    return torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach().cpu().as_subclass(torch.Tensor))


def _told(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
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
        name = str(len(tensors))
        tensors[name] = _dense(value)
        return {"tensor": name}
    other = value if type(value) is Other else plain(value)
    if isinstance(other, torch.Tensor) and other.is_meta:
        other = Other("Tensor", f"a tensor on the meta device, without numbers, of shape {tuple(other.shape)}")
    if type(other) is not Other:
        return _told(other, tensors)
    return {"other": [str.__str__(other.type), str.__str__(other.text)]}


def _value(told: Any, tensors: dict[str, torch.Tensor]) -> Any:
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
