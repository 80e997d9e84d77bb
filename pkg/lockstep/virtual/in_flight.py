"""Buffers in flight: the tensors of asynchronous operations between the call and ``wait()``.

On real ranks the network reads and writes them in the meantime, and what a program sees there depends on luck. Here it
never does. Until the operation is waited for (by ``wait``, an ``is_completed`` that is true, or its future), a buffer
that receives keeps what it held: the data arrives in a copy (``Operation.landing``), which ``wait`` puts in place. What
is sent is what the buffer held when the rank called the operation, up to ``data_movement.COMPARED`` bytes. An operation
that torch waits for at once needs no copies.

``Flights`` finds the line that uses such a buffer too early. Its rank's Clock asks it before each torch operation, as
long as anything is in flight::

    the buffer receives       the torch operation may neither read nor write it
    it only sends             the torch operation may not write it

``.numpy()``, ``.tolist()`` and ``print`` do not pass through a Clock: they show the old values, but their line is not
found.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from inspect import unwrap
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from lockstep import places
from lockstep.comm.operation import Operation
from lockstep.residency.nested_tensors import tensors_of
from lockstep.virtual import data_movement

AT_ONCE = {unwrap(dist.send).__code__, unwrap(dist.recv).__code__}  # torch's functions that wait at once


def waited_for_at_once() -> bool:
    """Whether the method that calls this was called by torch's ``send`` or ``recv``, directly or by their ``isend`` or
    ``irecv``."""
    caller = sys._getframe(2)
    return caller.f_code in AT_ONCE or (caller.f_back is not None and caller.f_back.f_code in AT_ONCE)


class Sent(NamedTuple):
    """A buffer that is being sent, and what it held: a copy, or for a large one the buffer itself."""

    buffer: torch.Tensor
    as_called: torch.Tensor

    @property
    def is_copy(self) -> bool:
        return self.as_called is not self.buffer

    @property
    def changed(self) -> bool:
        return self.is_copy and data_movement.changed(self.buffer, self.as_called)


def sent(buffer: torch.Tensor) -> Sent:
    copy = data_movement.kept(buffer)
    return Sent(buffer, buffer if copy is None else copy)


class Flights:
    """What one rank has in flight. ``race``: called with an operation when one of its buffers was used too early."""

    def __init__(self, race: Callable[[Operation], None]) -> None:
        self._works: dict[int, weakref.ref[Any]] = {}  # by number; a Work that nobody keeps will not be waited for
        self._race = race

    def __bool__(self) -> bool:
        return bool(self._works)

    def begin(self, number: int, work: Any) -> None:
        """``work``: has an ``operation``, and its buffers, ``sends`` and ``receives``."""
        self._works[number] = weakref.ref(work, lambda _: self._works.pop(number, None))

    def end(self, operation: Operation, sends: Iterable[Sent]) -> None:
        """The rank has waited for the operation."""
        self._works.pop(operation.number, None)
        if not operation.changed and any(s.changed for s in sends):
            operation.changed = True
            self._race(operation)

    def look(self, used: Iterable[Any], written: Iterable[Any]) -> None:
        """A torch operation is about to use the tensors of ``used``, and to write those of ``written``."""
        reads, writes = _with_data(used), _with_data(written)
        for work in [ref() for ref in list(self._works.values())]:
            if work is not None and work.operation.early is places.NOWHERE:
                self._compare(work, reads, writes)

    def _compare(self, work: Any, reads: list[torch.Tensor], writes: list[torch.Tensor]) -> None:
        operation: Operation = work.operation
        changes = any(overlaps(t, [s.buffer for s in work.sends]) for t in writes)
        if changes or any(overlaps(t, work.receives) for t in reads):
            operation.early, operation.changed = places.here(), changes
            self._race(operation)


def overlaps(tensor: torch.Tensor, buffers: Sequence[torch.Tensor]) -> bool:
    """Whether a tensor surely has an element in one of the buffers. (One with gaps may have none between its ends.)"""
    if not _has_data(tensor):
        return False
    begin, end = span(tensor)
    last = end - tensor.element_size()
    dense = end - begin == data_movement.nbytes(tensor)
    for first, after in [span(b) for b in buffers if _has_data(b)]:
        if (begin < after and first < end) if dense else (first <= begin < after or first <= last < after):
            return True
    return False


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """The address of a tensor's first byte, and that after its last."""
    start, size = tensor.data_ptr(), tensor.element_size()
    if tensor.is_contiguous():
        return start, start + tensor.numel() * size
    return start, start + size * (1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)))


def _with_data(values: Iterable[Any]) -> list[torch.Tensor]:
    return [t for t in tensors_of(values) if _has_data(t)]


def _has_data(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_meta and tensor.numel() > 0
