"""Comparing what ranks hold with what they should hold, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.plain import Other
from lockstep.checks.wording import counted


def result(seen: Seen, rank: int) -> Any:
    """What a function left that may work in place or return: what it returned, or else its first argument, a tensor."""
    returned = seen.returned[rank]
    first = seen.arguments[rank][:1] if returned is None else []
    return first[0] if first and isinstance(first[0], Tensor) else returned


def compare(seen: Seen, held: Sequence[Any], wanted: Sequence[Tensor | None]) -> Fault | None:
    """The first thing wrong with ``held``, by member of the group; None if all is as wanted. A rank of which None is
    wanted may hold anything."""
    for rank, value, want in zip(seen.case.members, held, wanted, strict=True):
        fault = None if want is None else _kind_of_value(seen, rank, value, want)
        if fault:
            return fault
    place = first_wrong(held, wanted)
    if place is None:
        return None
    (n, at), rank = place, seen.case.members[place[0]]
    value, want = held[n].flatten(), wanted[n].flatten()  # type: ignore[union-attr]
    there, right = apart(value[at].item(), want[at].item())
    where = f"element {at} of rank {rank} is {there}, not {right}"
    many = f"{int((value != want).sum()):,} of {counted(want.numel(), 'element')} differ there"
    return Fault("wrong-values", f"With {seen.case}: {where} ({many}).")


def first_wrong(held: Sequence[Any], wanted: Sequence[Tensor | None]) -> tuple[int, int] | None:
    """The first member of the group that holds a wrong element, and that element; of tensors of the right shapes."""
    for n, (value, want) in enumerate(zip(held, wanted, strict=True)):
        if want is not None and not bool((value == want).all()):
            return n, int((value != want).flatten().nonzero()[0])
    return None


def _kind_of_value(seen: Seen, rank: int, value: Any, want: Tensor) -> Fault | None:
    """Type, shape and dtype."""
    if not isinstance(value, Tensor):
        return Fault("wrong-type", f"With {seen.case}, rank {rank} has {told(value)} where a tensor is wanted.")
    if value.shape != want.shape:
        shapes = f"{tuple(value.shape)}, the right one {tuple(want.shape)}"
        return Fault("wrong-shape", f"With {seen.case}, rank {rank}'s tensor has the shape {shapes}.")
    if value.dtype != want.dtype:
        return Fault("wrong-dtype", f"With {seen.case}, rank {rank}'s tensor is {value.dtype}, not {want.dtype}.")
    return None


def told(value: Any) -> str:
    """A value in a sentence. A tuple and an array reach the judge as lists."""
    if isinstance(value, Other):
        return f"a {value.type}"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, list):
        return f"a list, tuple or array of {counted(len(value), 'value')}"
    return "nothing (None)" if value is None else f"{value!r:.60}"


def total(tensors: Sequence[Tensor]) -> Tensor:
    return torch.stack([t.contiguous() for t in tensors]).sum(0).to(tensors[0].dtype)
