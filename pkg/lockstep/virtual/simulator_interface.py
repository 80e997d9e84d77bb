"""The interface (a typing.Protocol) that the simulation offers to the threads of its ranks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from lockstep.comm.backend_rules import Rules
from lockstep.comm.operation import Operation
from lockstep.machines import Cluster
from lockstep.virtual.errands import Errands
from lockstep.virtual.in_flight import Flights
from lockstep.virtual.random_streams import Streams
from lockstep.virtual.timeouts import Patience


class Simulator(Protocol):
    """``me``: the calling rank. ``clock``: virtual seconds, by rank. ``store``: torch's store, shared by all ranks.
    ``flights``: by rank, its buffers in flight; ``errands``: what its threads ask of
    it. ``withholds``: whether only ``wait`` puts in place what arrives."""

    ranks: int
    cluster: Cluster
    rules: Rules
    streams: Streams
    clock: list[float]
    flights: list[Flights]
    errands: list[Errands]
    withholds: bool
    strict: bool
    store: Any
    pid: int

    def new_operation(
        self,
        me: int,
        kind: str,
        nbytes: int,
        peer: int | None,
        group: tuple[int, ...],
        name: str,
        tag: int,
        tensors: Any,
    ) -> Operation: ...

    def batch(self, me: int) -> AbstractContextManager[None]: ...

    def send(self, operation: Operation) -> None: ...

    def recv(self, operation: Operation) -> None: ...

    def join(self, part: Operation, sequence: int, move: Callable[[list[Operation]], None]) -> None: ...

    def wait(self, operation: Operation, patience: Patience | None = None) -> None: ...

    def poll(self, operation: Operation) -> bool: ...

    def sleep(self, me: int, seconds: float) -> None: ...

    def left(self, me: int, status: int) -> None: ...
