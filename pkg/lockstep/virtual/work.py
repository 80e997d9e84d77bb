"""Handles of asynchronous operations: ``Work`` and its ``Future``, and waiting for several futures.

A rank that waits must hand over the baton. ``Work.wait`` does so, called from Python or from C++. A Future does so only
when Python waits for it; C++ code that waits for an open one (the reducer of DDP) would keep the baton for ever. So:

    who asks for the future                     when it is completed
    the learner's code                          when that code waits for it, or asks whether it is done
    DDP, in the middle of a backward pass       at the end of the pass, just before the reducer waits for it
    other code of torch                         at once

For the same reason ``wait_all`` and ``collect_all`` ask the futures one by one: torch's own wait in C++ until others
have set the values.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
from torch._C import _current_autograd_node
from torch._C._distributed_c10d import Work
from torch.autograd import Variable
from torch.futures import Future

from lockstep import places
from lockstep.comm.operation import Operation
from lockstep.record.limited_waits import NEVER, limit_of
from lockstep.virtual import data_movement
from lockstep.virtual.in_flight import Sent
from lockstep.virtual.simulator_interface import Simulator
from lockstep.virtual.timeouts import AtBarrier, patience

_local = threading.local()


class VirtualWork(Work):
    """The handle that ``async_op=True``, ``isend`` and ``irecv`` return. ``sends`` and ``receives``: the buffers that
    it has in flight (in_flight.py)."""

    def __init__(
        self,
        simulation: Simulator,
        operation: Operation,
        result: Sequence[torch.Tensor],
        sends: Sequence[Sent] = (),
        receives: Sequence[torch.Tensor] = (),
    ) -> None:
        super().__init__()
        self._simulation, self.operation, self._result = simulation, operation, list(result)
        self.sends, self.receives = sends, receives
        if sends or receives:
            simulation.flights[operation.rank].begin(operation.number, self)

    def wait(self, timeout: timedelta | None = None) -> bool:
        simulation, operation = self._simulation, self.operation
        self._end_of_flight()
        simulation.wait(operation, patience(operation, simulation.clock, timeout))
        self._arrive()
        return True

    def limit(self, timeout: timedelta | None) -> None:
        """Let the operation wait for ``timeout`` at most; torch's options have a negative one for none."""
        if timeout and timeout.total_seconds() > 0:
            self.operation.limit = timeout.total_seconds()

    def wait_monitored(self, timeout: timedelta | None, all_ranks: bool) -> None:
        """The wait of a ``monitored_barrier``."""
        operation = self.operation
        limit = 0.0 if timeout == timedelta(0) else limit_of(timeout)
        is_first = operation.rank == operation.group[0]
        until = operation.posted + limit
        monitor = AtBarrier(operation, until, limit, operation.group[1:], all_ranks=all_ranks)
        self._simulation.wait(operation, monitor if is_first and limit < NEVER else None)

    def _end_of_flight(self) -> None:
        """The rank waits: from here on its buffers may change."""
        if self.sends or self.receives:
            sends, self.sends, self.receives = self.sends, (), ()
            self._simulation.flights[self.operation.rank].end(self.operation, sends)

    def _arrive(self) -> None:
        """Put in place what has arrived while the rank did not wait."""
        if self.operation.landing:
            data_movement.land(self.operation.landing)
            self.operation.landing = None

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        done = self._simulation.poll(self.operation)
        if done:
            self._end_of_flight()
            self._arrive()
        return done

    def is_success(self) -> bool:
        return self.is_completed() and not self.operation.error

    def result(self) -> list[torch.Tensor]:
        return self._result

    def get_future(self) -> Any:
        future = VirtualFuture(self._waited, self.is_completed)
        if _current_autograd_node() is not None:
            settle_after_backward(future)
        elif places.is_library(sys._getframe(1).f_code.co_filename):
            future.settle()
        return future

    def _waited(self) -> list[torch.Tensor]:
        self.wait()
        return self._result

    def _source_rank(self) -> int:
        assert self.operation.peer is not None
        return self.operation.group.index(self.operation.peer)


class JointWork(VirtualWork):
    """The handle of several operations: it is that of the last, and waits for all."""

    def __init__(self, works: Sequence[VirtualWork]) -> None:
        super().__init__(works[-1]._simulation, works[-1].operation, works[-1]._result)
        self._works = works

    def wait(self, timeout: timedelta | None = None) -> bool:
        for work in self._works:
            work.wait(timeout)
        return True

    def is_completed(self) -> bool:
        return all(work.is_completed() for work in self._works)


def jointly(works: Sequence[VirtualWork]) -> VirtualWork:
    return JointWork(works) if len(works) > 1 else works[0]


class VirtualFuture(Future[Any]):
    """A lazy Future: ``find`` waits for the value and returns it; ``ready`` says whether it would return at once."""

    def __init__(self, find: Callable[[], Any], ready: Callable[[], bool]) -> None:
        super().__init__()
        self._find, self._ready, self._settled = find, ready, False

    def settle(self) -> None:
        """Wait for the value now. A callback of ``then`` may raise: that is the learner's own error."""
        if not self._settled:
            self._settled = True
            try:
                self.set_result(self._find())
            except Exception as error:
                self.set_exception(error)
                raise

    def wait(self) -> Any:
        self.settle()
        return super().wait()

    def value(self) -> Any:
        self.settle()
        return super().value()

    def done(self) -> bool:
        if not self._settled and self._ready():
            self.settle()
        return self._settled

    def then(self, callback: Callable[[Any], Any]) -> Any:
        def find() -> Any:
            self.settle()
            return callback(self)

        following = VirtualFuture(find, self.done)
        if self._settled:
            following.settle()
        elif _current_autograd_node() is not None:
            settle_after_backward(following)
        return following


def settle_after_backward(future: VirtualFuture) -> None:
    """Settle the future at the end of the backward pass. Autograd runs its callbacks in the order of registration: DDP,
    which launches its last all-reduce before it registers, comes later."""
    pending: list[VirtualFuture] = _local.__dict__.setdefault("pending", [])
    pending.append(future)
    Variable._execution_engine.queue_callback(settle_pending)


def settle_pending() -> None:
    """Settle all pending futures, also those of a nested backward pass."""
    pending: list[VirtualFuture] = _local.pending
    while pending:
        pending.pop(0).settle()


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """The values, in order. Raises the error of the first future that fails."""
    return [future.wait() for future in futures]


def collect_all(futures: Sequence[Future[Any]]) -> VirtualFuture:
    """A future whose value is the list of ``futures`` when all of them are done."""
    several = list(futures)

    def find() -> list[Future[Any]]:
        wait_all(several)
        return several

    return VirtualFuture(find, lambda: all(future.done() for future in several))


def install() -> None:
    """Replace torch's ``wait_all`` and ``collect_all``. Once in a process."""
    setattr(torch.futures, "wait_all", wait_all)  # noqa: B010
    setattr(torch.futures, "collect_all", collect_all)  # noqa: B010
