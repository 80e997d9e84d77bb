"""What an asynchronous operation leaves in the rank's hands: a Work, and the Future that some prefer.

A rank that waits must give the baton away. ``Work.wait`` does, from Python and from C++. A Future does only when it is
waited for in Python; C++ code (the reducer of DDP) that waits for an open one would keep the baton for ever. So:

    who asks for the future                     it is settled
    the learner's code                          when that code waits for it, or asks whether it is done
    DDP, in the middle of a backward pass       at the end of the pass, just before the reducer waits for it
    other code of torch                         at once
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
from lockstep.virtual import movement
from lockstep.virtual.protocol import Simulator

_local = threading.local()


class VirtualWork(Work):
    """What ``async_op=True``, ``isend`` and ``irecv`` return. ``sent``: of a send, a copy of its tensor."""

    def __init__(
        self,
        simulation: Simulator,
        operation: Operation,
        result: Sequence[torch.Tensor],
        sent: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self._simulation, self._operation, self._result = simulation, operation, list(result)
        self._sent = sent

    def wait(self, timeout: timedelta | None = None) -> bool:
        self._simulation.wait(self._operation)
        self._compare()
        return True

    def _compare(self) -> None:
        """Until a send is waited for, its tensor must stay as it is: on real ranks it may still be on its way."""
        if self._sent is not None:
            self._operation.changed = movement.changed(self._result[0].detach(), self._sent)
            self._sent = None

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        done = self._simulation.poll(self._operation)
        if done:
            self._compare()
        return done

    def is_success(self) -> bool:
        return self.is_completed()

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
        assert self._operation.peer is not None
        return self._operation.group.index(self._operation.peer)


class VirtualFuture(Future[Any]):
    """``find`` waits for the value and returns it; ``ready`` tells whether it would return at once."""

    def __init__(self, find: Callable[[], Any], ready: Callable[[], bool]) -> None:
        super().__init__()
        self._find, self._ready, self._settled = find, ready, False

    def settle(self) -> None:
        """Wait for the value, here and now. What it makes of the value may raise: that is the learner's own error."""
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
    """Autograd calls back at the end of the pass, in the order of asking: DDP, which launches its last all-reduce and
    then asks, comes after this."""
    pending: list[VirtualFuture] = _local.__dict__.setdefault("pending", [])
    pending.append(future)
    Variable._execution_engine.queue_callback(settle_pending)


def settle_pending() -> None:
    """All of them: a backward pass within the pass may have asked for some."""
    pending: list[VirtualFuture] = _local.pending
    while pending:
        pending.pop(0).settle()
