"""What the thread of a rank may ask of the simulation that it is a part of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from lockstep.comm.backend_rules import Rules
from lockstep.comm.operation import Operation
from lockstep.machines import Cluster
from lockstep.virtual.random_streams import Streams


class Simulator(Protocol):
    """``me``: the rank that asks. ``clock``: virtual seconds, by rank. ``store``: where the ranks meet."""

    ranks: int
    cluster: Cluster
    rules: Rules
    streams: Streams
    clock: list[float]
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

    def wait(self, operation: Operation) -> None: ...

    def poll(self, operation: Operation) -> bool: ...

    def sleep(self, me: int, seconds: float) -> None: ...

    def left(self, me: int, status: int) -> None: ...
