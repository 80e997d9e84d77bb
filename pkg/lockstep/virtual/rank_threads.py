"""The threads that are ranks, and those that ranks start: their time, environment, output and random numbers.

All ranks share a process, so what programs take for global is routed by the calling thread, and a switch of ranks costs
next to nothing (more of it: ``rank_environment``, ``process_state``). In a rank's own thread ``time.perf_counter()``
returns the rank's virtual time and ``time.sleep(s)`` takes s virtual seconds (``asyncio`` keeps real time: it waits for
the host). ``random``, ``numpy.random`` and torch draw from the rank's own streams; each line that it prints bears its
rank.

A thread that a rank starts, to load data, say, belongs to that rank: it has the same environment, random numbers and
process groups, its output bears the rank, and its tensors count as the rank's memory. But it runs whenever the host
schedules it, whichever rank has the baton. So its clock and its ``sleep`` are real, its computation takes no virtual
time, and what it wants to communicate is done by the rank, when that waits for it (``errands``).
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy
from torch.distributed import distributed_c10d
from torch.utils._python_dispatch import TorchDispatchMode

from lockstep.comm.output import StreamTo, TaggedOutput
from lockstep.errors import Exit, RankRaised, RankState, UsageError
from lockstep.places import Place
from lockstep.residency import Residency
from lockstep.virtual import errands
from lockstep.virtual.errands import Errands
from lockstep.virtual.random_streams import Streams, draws
from lockstep.virtual.simulator_interface import Simulator

FREE_LOOKS = 100  # consecutive readings of the clock that cost nothing
LOOK_COST = 1e-7  # virtual seconds of each further one, at least

_local = threading.local()
_real_sleep, _real_monotonic = time.sleep, time.monotonic
_real_exit = os._exit


def become(rank: int, simulation: Simulator) -> None:
    """Make the calling thread the thread of ``rank``."""
    _local.rank, _local.simulation = rank, simulation


def current() -> int | None:
    """The rank whose own thread is the calling one; None for all other threads."""
    return getattr(_local, "rank", None)


def belong(rank: int, simulation: Simulator) -> None:
    """Make the calling thread belong to ``rank``, which has started it, directly or by another such thread."""
    _local.owner, _local.simulation = rank, simulation


def owner() -> int | None:
    """The rank of the calling thread, or the one that has started it; None for threads of the cluster itself."""
    rank = current()
    return getattr(_local, "owner", None) if rank is None else rank


def install(output: TaggedOutput, errors: TaggedOutput, streams: Streams) -> None:
    """Route global state of Python (stdout, random, time) to the calling thread's rank. For a process of a virtual
    cluster."""
    sys.stdout, sys.stderr = StreamTo(output, owner), StreamTo(errors, owner)
    _route(random, random.Random, streams.random_of)
    _route(numpy.random, numpy.random.RandomState, streams.numpy_of)
    streams.watch_torch(current)
    errands.install(my_errands)
    for name in ("perf_counter", "monotonic", "time"):
        setattr(time, name, _virtual(getattr(time, name), 1))
        setattr(time, f"{name}_ns", _virtual(getattr(time, f"{name}_ns"), 10**9))
    setattr(time, "sleep", _sleep)  # noqa: B010
    setattr(asyncio.BaseEventLoop, "time", lambda _: _real_monotonic())  # noqa: B010
    setattr(os, "_exit", _leave)  # noqa: B010


def _route(module: Any, owner: type, stream: Callable[[int], Any]) -> None:
    """Let the functions of ``module`` draw from the stream of the calling rank."""
    for name in dir(module):
        real = getattr(module, name)
        if not name.startswith("_") and callable(getattr(owner, name, None)) and not isinstance(real, type):
            setattr(module, name, _drawing(name, real, stream))


def _drawing(name: str, real: Callable[..., Any], stream: Callable[[int], Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        rank = owner()
        return (real if rank is None else getattr(stream(rank), name))(*args, **kwargs)

    return draw


def _virtual(real: Callable[[], float], unit: int) -> Callable[[], float]:
    def now() -> float:
        rank = current()
        if rank is None:
            return real()
        seconds = _look(rank)
        return seconds if unit == 1 else int(seconds * unit)

    return now


def _look(rank: int) -> float:
    """The rank's clock. Consecutive readings without any other operation take time, more and more, so that a loop that
    waits for the clock ends."""
    clock: list[float] = _local.simulation.clock
    if clock[rank] != getattr(_local, "seen", None):
        _local.since, _local.looks = clock[rank], 0
    _local.looks += 1
    if _local.looks > FREE_LOOKS:
        clock[rank] += max(LOOK_COST, 0.01 * (clock[rank] - _local.since))
    _local.seen = clock[rank]
    return clock[rank]


def _sleep(seconds: float) -> None:
    rank = current()
    if rank is None:
        _real_sleep(seconds)
    else:
        _local.simulation.sleep(rank, seconds)


def _leave(status: int) -> None:
    """``os._exit``. In a rank it fails the run, with an error that names the rank. In a process that the rank has
    forked, such as a DataLoader's worker, it ends that process."""
    rank = owner()
    if rank is None or os.getpid() != _local.simulation.pid:
        _real_exit(status)
    _local.simulation.left(rank, status)
    threading.Event().wait()


class Books(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that accounts for the memory of tensors that a thread creates. ``claim``: as for the Clock."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """As for the Clock."""
        return False

    def __init__(self, residency: Residency, claim: Callable[[], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._residency, self._claim = residency, claim

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if draws(func):
            self._claim()
        out = func(*args, **(kwargs or {}))
        self._residency.see(func, args, out)
        return out


def belonging(simulation: Simulator, residency: Residency, me: int) -> AbstractContextManager[None]:
    """The context of a thread that rank ``me`` starts. Called by the thread that starts it."""
    groups, mine = dict(vars(distributed_c10d._world)), simulation.errands[me]
    mine.begun()

    @contextmanager
    def inside() -> Iterator[None]:
        belong(me, simulation)
        vars(distributed_c10d._world).update(groups)
        try:
            with Books(residency, partial(simulation.streams.claim, me)):
                yield
        finally:
            mine.ended()

    return inside()


def simulation() -> Simulator:
    """The simulation of the calling thread, which is a rank's or was started by one."""
    found: Simulator = _local.simulation
    return found


def my_errands() -> Errands | None:
    """What the threads of the rank ask for whose own thread is the calling one."""
    rank = current()
    if rank is None:
        return None
    return simulation().errands[rank]


def refusal(me: int, thread: str, place: Place, others: Sequence[RankState]) -> RankRaised:
    """The error when a thread that rank ``me`` has started communicates at ``place``, and the rank cannot do it for the
    thread. ``others``: the states of the other ranks."""
    told = f"rank {me} communicates in a thread that it has started ({thread}), and does not wait for it."
    remedy = (
        "On the virtual cluster a rank communicates for its threads, one after the other, while it waits for them: in "
        'join(), result() or the like, and in no operation of its own. Or run it on processes: on="processes".'
    )
    mine = RankState(me, "raised", where=str(place), source=place.source, detail="UsageError")
    end = Exit(me, "raised", "UsageError", "lockstep", place, message=told, module=UsageError.__module__)
    return RankRaised(told, [mine, *others], remedy=remedy, exit=end)
