"""What a call does to its arguments: values, order, gradients, hooks, and memory that its result shares with them.

``state_of(arguments)``         what they are like, as digests: it keeps neither the arguments nor a copy
``changes(before, after)``      how two states differ
``shared_with(result, given)``  the arguments that share memory with a result
``Compared(fn)``                calls ``fn``, and notes all of these
``comparing(watch)``            a watch whose record holds what ``watch`` records, and the changes
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, get_args

import numpy
import torch
from torch import Tensor
from torch.nn import Module

What = Literal[
    "type", "length", "order", "shape", "values", "requires_grad", "gradient", "hooks", "mode", "shared"
]  # fmt: skip
LATER: tuple[What, ...] = ("type", "length", "order", "shape", "values", "hooks")  # a watch itself calls backward()
DEEP = 6  # levels of lists, dicts and modules

HOOKS = (
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


class Change(NamedTuple):
    """One difference: of which argument, by its place or name; where in it, as in "[2].weight"; and in what."""

    argument: int | str
    path: str
    what: What


class State(NamedTuple):
    """What a value is like: facts that are compared one by one, and the states of its parts by their path."""

    facts: Mapping[What, Any]
    parts: Mapping[str, State]
    items: tuple[int, ...] = ()  # the identities of a list's items


def state_of(value: Any) -> State:
    """The state of arguments of any type. Torch's modes are off: a virtual clock or a memory count sees nothing."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return _state(value, DEEP)


def _state(value: Any, depth: int) -> State:
    if isinstance(value, Tensor):
        return _tensor(value, depth)
    if isinstance(value, numpy.ndarray):
        return State({"type": str(value.dtype), "shape": value.shape, "values": _digest(value)}, {})
    if isinstance(value, Module) and depth:
        return _module(value, depth)
    if isinstance(value, dict) and depth:
        parts = {f"[{key!r}]": _state(item, depth - 1) for key, item in value.items()}
        return State({"type": "dict", "length": frozenset(parts), "order": tuple(parts)}, parts)
    if isinstance(value, (list, tuple, deque)) and depth:
        parts = {f"[{n}]": _state(item, depth - 1) for n, item in enumerate(value)}
        return State({"type": type(value).__name__, "length": len(value)}, parts, tuple(map(id, value)))
    if isinstance(value, (set, frozenset)):
        return State({"type": type(value).__name__, "values": frozenset(map(_scalar, value))}, {})
    if depth and callable(getattr(type(value), "get_params", None)) and hasattr(value, "__dict__"):  # of scikit-learn
        return State({"type": type(value).__name__, "values": _state(vars(value), depth)}, {})
    if depth and is_dataclass(value) and not (callable(value) or _is_frozen(value)):
        parts = {f".{name}": _state(part, depth - 1) for name, part in _own(value).items()}
        return State({"type": type(value).__name__, "length": frozenset(parts)}, parts)
    return State({"type": type(value).__name__, "values": _scalar(value)}, {})


def _is_frozen(value: Any) -> bool:
    return bool(type(value).__dataclass_params__.frozen)


def _own(value: Any) -> dict[str, Any]:
    """The attributes of a dataclass's instance, without what it computes once for itself. What is called isn't looked
    into, since it may note its calls; nor what is frozen, of which a trace has thousands."""
    found = {field.name: getattr(value, field.name) for field in fields(value)} | getattr(value, "__dict__", {})
    return {
        name: part for name, part in found.items() if not isinstance(getattr(type(value), name, None), cached_property)
    }


def _scalar(value: Any) -> Any:
    """Numbers and text by their value, where 0.0 and -0.0 differ; anything else is only itself."""
    if isinstance(value, (float, complex, numpy.generic)):
        return repr(value)
    return value if type(value) in (bool, int, str, bytes, type(None)) else id(value)


def _tensor(value: Tensor, depth: int) -> State:
    facts: dict[What, Any] = {
        "type": str(value.dtype),
        "shape": tuple(value.shape),
        "values": _bits(value),
        "requires_grad": value.requires_grad if value.is_leaf else None,
        "hooks": len(value._backward_hooks or ()) + len(getattr(value, "_post_accumulate_grad_hooks", None) or ()),
    }
    if value.is_leaf and depth:
        facts["gradient"] = None if value.grad is None else _bits(value.grad)
    return State(facts, {})


def _module(value: Module, depth: int) -> State:
    own = {**value._parameters, **value._buffers}
    parts = {f".{name}": _state(tensor, depth - 1) for name, tensor in own.items() if tensor is not None}
    parts |= {f".{name}": _state(child, depth - 1) for name, child in value._modules.items() if child is not None}
    hooks = sum(len(getattr(value, name, None) or ()) for name in HOOKS)
    facts: dict[What, Any] = {"type": type(value).__name__, "length": frozenset(parts), "mode": value.training}
    return State(facts | {"hooks": hooks}, parts)


def _bits(tensor: Tensor) -> bytes:
    """A digest of a tensor's numbers, without making another tensor where it is on the host."""
    if tensor.layout is not torch.strided or tensor.device.type == "meta":
        return b""
    plain = tensor.detach().as_subclass(Tensor)
    plain = plain if plain.device.type == "cpu" else plain.cpu()
    plain = plain.resolve_conj().resolve_neg()
    return _digest((plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain).numpy())


def _digest(array: numpy.ndarray[Any, Any]) -> bytes:
    if array.dtype.hasobject:
        return _digest(numpy.array([hash(_scalar(item)) for item in array.flat]))
    return hashlib.blake2b(numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8).data, digest_size=16).digest()


# ---- differences


def changes(before: State, after: State, path: str = "") -> Iterator[tuple[str, What]]:
    """Where two states of a value differ, and in what: outer parts first, and no parts of what has other parts now."""
    found: list[What] = [what for what, fact in before.facts.items() if after.facts.get(what) != fact]
    if other := [what for what in found if what in ("type", "length")]:
        yield path, other[0]
        return
    yield from ((path, what) for what in found)
    inner = [c for name, part in before.parts.items() for c in changes(part, after.parts[name], path + name)]
    if inner and before.items != after.items and sorted(before.items) == sorted(after.items):
        yield path, "order"
    else:
        yield from inner


def changes_of_arguments(before: State, after: State) -> Iterator[Change]:
    """The same of the states of a tuple of arguments."""
    for number, (had, has) in enumerate(zip(before.parts.values(), after.parts.values(), strict=True)):
        yield from (Change(number, path, what) for path, what in changes(had, has))


# ---- shared memory


def shared_with(result: Any, given: Sequence[Any]) -> Iterator[Change]:
    """The arguments of which ``result`` has memory: a tensor's, an array's, a list or a dict itself."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        own = set(_memory(result, DEEP))
        for number, argument in enumerate(given):
            if own.intersection(_memory(argument, DEEP)):
                yield Change(number, "", "shared")


def _memory(value: Any, depth: int) -> Iterator[int]:
    """What tells one piece of memory from another: addresses of numbers, identities of lists and dicts."""
    if isinstance(value, Tensor) and value.layout is torch.strided and value.device.type != "meta":
        yield from [address] if (address := value.untyped_storage().data_ptr()) else []
    elif isinstance(value, numpy.ndarray) and value.size:
        yield _owner(value).__array_interface__["data"][0]
    elif depth and isinstance(value, (list, dict, set, deque, tuple, Module)):
        yield from () if isinstance(value, (tuple, Module)) else (id(value),)
        parts = [*value.parameters(), *value.buffers()] if isinstance(value, Module) else value
        for part in parts.values() if isinstance(parts, dict) else parts:
            yield from _memory(part, depth - 1)


def _owner(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array


# ---- a watch that compares


class Compared:
    """Calls ``fn``, and notes what each call does to its arguments."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.changes: list[Change] = []  # of each argument and kind the first

    def __call__(self, *given: Any, **named: Any) -> Any:
        before = state_of(given)
        result = self.fn(*given, **named)
        self.note(changes_of_arguments(before, state_of(given)))
        self.note(shared_with(result, given))
        return result

    def __getattr__(self, name: str) -> Any:
        """What a watch asks of the function itself, as for its globals."""
        return getattr(self.__dict__.get("fn"), name)  # a copy that is being made has none yet

    def note(self, found: Iterator[Change]) -> None:
        for change in found:
            if all((c.argument, c.what) != (change.argument, change.what) for c in self.changes):
                self.changes.append(change)


def comparing(watch: Callable[..., Any]) -> Callable[..., Any]:
    """A watch that records what ``watch`` does, and which arguments change: in the call, with gradients and all, or
    until the watch is done with what was returned."""
    return partial(_compared, watch)


def _compared(watch: Callable[..., Any], fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    own, before = Compared(fn), state_of(arguments)
    found = watch(own, arguments)
    own.note(c for c in changes_of_arguments(before, state_of(arguments)) if c.what in LATER)
    return {"recorded": found, "changes": [[*change] for change in own.changes]}


def recorded(record: Any) -> tuple[Any, tuple[Change, ...]]:
    """What such a watch's record holds: the inner watch's, and the changes. Of any other watch's there are none."""
    if not isinstance(record, dict) or record.keys() != {"recorded", "changes"}:
        return record, ()
    return record["recorded"], tuple(Change(*c) for c in record["changes"] if len(c) == 3 and c[2] in get_args(What))
