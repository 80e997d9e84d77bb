"""The format in which a run's result leaves a sandbox: JSON, then the bytes of tensors; no pickle, no code.

A result consists of a few classes, each of plain fields. The reader builds these classes from JSON, field by field,
and takes no field of another type than its class declares: neither code nor a surprise can come in this way.

    number, text, True, None     themselves          [..]    a list
    {"t": [..]}                  a tuple             {"m": [[key, value], ..]}  a mapping
    {"b": [offset, length]}      bytes, behind the JSON
    {"x": [offset, length]}      a tensor, behind the JSON, in the format of safetensors
    {"c": name, "f": [..]}       one of CLASSES, its fields in their order
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from lockstep import errors, events, places
from lockstep.dye import decoding

UNFIT = (
    SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError, OverflowError,
)  # fmt: skip
LONGEST = 64 << 20  # bytes of a message
_ERRORS = ("Deadlock", "Mismatch", "Unmatched", "RankRaised", "RankDied", "OutOfMemory", "Stuck", "TimeLimit")
_TOLD = ("message", "states", "trace", "remedy", "printed", "exit")  # as errors.RunError takes them
_TOLD_TYPES = (str, tuple[errors.RankState, ...], events.Trace | None, str, str, errors.Exit | None)
CLASSES: dict[str, type] = {
    c.__name__: c
    for c in (
        *(getattr(errors, name) for name in ("RunError", *_ERRORS, "WorldUnavailable", "UsageError")),
        *(errors.RankState, errors.Exit, places.Place, places.Helper, decoding.Left, decoding.Posted),
        *(events.Outcome, events.Trace, events.Event, events.Unequal, events.Memory, events.Span),
    )
}


class Forged(Exception):
    """The message is not in this format, or not of the wanted type."""


def encoded(value: Any) -> bytes:
    """The message for ``value``. Raises TypeError for what the format does not have."""
    blobs: list[bytes] = []
    told = json.dumps(_told(value, blobs)).encode()
    return len(told).to_bytes(8, "big") + told + b"".join(blobs)


def decoded(message: bytes, wanted: Any) -> Any:
    """The value that a message holds, which is of the type ``wanted``. Raises Forged."""
    try:
        size = int.from_bytes(message[:8], "big")
        told, rest = message[8 : 8 + size], message[8 + size :]
        return _made(json.loads(told, parse_constant=float), rest, wanted)
    except Forged:
        raise
    except (
        SafetensorError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
        MemoryError,
        OverflowError,
    ) as error:
        raise Forged(f"{type(error).__name__}: {error}") from None


def _told(value: Any, blobs: list[bytes]) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"b": _behind(value, blobs)}
    if type(value) is torch.Tensor:
        return {"x": _behind(save({"": value.detach().cpu().contiguous()}), blobs)}
    if CLASSES.get(type(value).__name__) is type(value):
        return {"c": type(value).__name__, "f": [_told(v, blobs) for v in _contents(value)]}
    if isinstance(value, Mapping):
        return {"m": [[_told(k, blobs), _told(v, blobs)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"t": [_told(v, blobs) for v in value]}
    if isinstance(value, list):
        return [_told(v, blobs) for v in value]
    raise TypeError(f"a {type(value).__name__} is no fact")


def _behind(blob: bytes, blobs: list[bytes]) -> list[int]:
    """Where it will be."""
    offset = sum(map(len, blobs))
    blobs.append(blob)
    return [offset, len(blob)]


def _contents(value: Any) -> list[Any]:
    if isinstance(value, errors.RunError):
        return [getattr(value, name) for name in _TOLD]
    if isinstance(value, errors.LockstepError):
        return [value.message, value.remedy]
    return list(value) if isinstance(value, tuple) else [getattr(value, f.name) for f in fields(value)]


@cache
def _fields(kind: type) -> tuple[Any, ...]:
    """The types of its fields, in the order in which it takes them."""
    if issubclass(kind, errors.RunError):
        return _TOLD_TYPES
    if issubclass(kind, errors.LockstepError):
        return (str, str)
    hints = typing.get_type_hints(kind)
    names = [f.name for f in fields(kind)] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
    return tuple(hints[name] for name in names)


def _made(told: Any, rest: bytes, wanted: Any) -> Any:
    """``told`` as a value of the type ``wanted``."""
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted is Any:
        return _anything(told, rest)
    if origin in (types.UnionType, typing.Union):
        return _made_one_of(told, rest, inner)
    if origin is typing.Literal:
        return _checked(told, told in inner)
    if origin is tuple:
        items = _checked(told, isinstance(told, dict)).get("t")
        if inner[1:] == (...,):
            return tuple(_made(item, rest, inner[0]) for item in items)
        return tuple(_made(item, rest, kind) for item, kind in zip(items, inner, strict=True))
    if _is(origin, Mapping):
        pairs = _checked(told, isinstance(told, dict)).get("m")
        return {_made(k, rest, inner[0]): _made(v, rest, inner[1]) for k, v in pairs}
    if _is(origin, Sequence):
        items = told.get("t") if isinstance(told, dict) else told
        return [_made(item, rest, inner[0]) for item in _checked(items, isinstance(items, list))]
    if wanted in (None, types.NoneType):
        return _checked(told, told is None)
    if wanted is float:
        return float(_checked(told, type(told) in (int, float)))
    if wanted in (bool, int, str):
        return _checked(told, type(told) is wanted)
    if wanted is bytes:
        offset, length = told["b"]
        return _checked(rest[offset : offset + length], offset >= 0 and 0 <= length <= len(rest) - offset)
    return _made_class(told, rest, wanted)


def _is(origin: Any, kind: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, kind)


def _made_one_of(told: Any, rest: bytes, kinds: Sequence[Any]) -> Any:
    for kind in kinds:
        try:
            return _made(told, rest, kind)
        except (Forged, ValueError, TypeError, KeyError, AttributeError):
            continue
    raise Forged(f"{told!r:.80} is none of {kinds}")


def _made_class(told: Any, rest: bytes, wanted: type) -> Any:
    kind = CLASSES[told["c"]]
    _checked(told, issubclass(kind, wanted))
    values = [_made(v, rest, t) for v, t in zip(told["f"], _fields(kind), strict=True)]
    make: Callable[..., Any] = kind
    return make(*values)


def _anything(told: Any, rest: bytes) -> Any:
    """What a rank returned: plain values and CLASSES."""
    if isinstance(told, list):
        return [_anything(item, rest) for item in told]
    if not isinstance(told, dict):
        return told
    if "c" in told:
        return _made_class(told, rest, object)
    if "b" in told:
        return _made(told, rest, bytes)
    if "x" in told:
        return load(_made({"b": told["x"]}, rest, bytes))[""]
    if "t" in told:
        return tuple(_anything(item, rest) for item in told["t"])
    return {_anything(k, rest): _anything(v, rest) for k, v in told["m"]}


def _checked(value: Any, holds: bool) -> Any:
    if not holds:
        raise Forged(f"{value!r:.80} is not what is wanted")
    return value
