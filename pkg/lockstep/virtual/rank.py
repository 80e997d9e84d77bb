"""What belongs to one rank although all ranks share a process: random numbers, time, environment, prints.

Inside a rank's thread ``time.perf_counter()`` tells the rank's virtual time and ``time.sleep(s)`` passes s virtual
seconds (``asyncio`` keeps real time: it waits for the host). ``random``, ``numpy.random`` and torch draw from the
rank's own streams; ``os.environ["RANK"]`` is its own; ``print`` is tagged. Everything is routed by thread, so that a
switch of ranks costs next to nothing.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy

from lockstep.comm.output import StreamTo, TaggedOutput
from lockstep.virtual.protocol import Simulator
from lockstep.virtual.random_streams import Streams

FREE_LOOKS = 100  # at the clock, one after the other
LOOK_COST = 1e-7  # virtual seconds of one more

_local = threading.local()
_real_sleep, _real_monotonic = time.sleep, time.monotonic
_real_exit = os._exit


def become(rank: int, simulation: Simulator) -> None:
    """The calling thread is this rank from now on."""
    _local.rank, _local.simulation = rank, simulation


def current() -> int | None:
    """The rank whose own thread calls; None for all other threads."""
    return getattr(_local, "rank", None)


def belong(rank: int, simulation: Simulator) -> None:
    """The calling thread was started by this rank, or by another thread that belongs to it (threads.py)."""
    _local.owner, _local.simulation = rank, simulation


def owner() -> int | None:
    """The rank that the calling thread is, or belongs to; None for the threads of the cluster itself."""
    rank = current()
    return getattr(_local, "owner", None) if rank is None else rank


class RankEnvironment(type(os.environ)):  # type: ignore[misc]
    """``os.environ`` with RANK and LOCAL_RANK of the rank that asks."""

    def __getitem__(self, key: str) -> str:
        rank = owner()
        if rank is not None and key in ("RANK", "LOCAL_RANK"):
            cluster = _local.simulation.cluster
            return str(rank if key == "RANK" else rank % cluster.ranks_per_node)
        value: str = super().__getitem__(key)
        return value


def install(output: TaggedOutput, streams: Streams, ranks: int, ranks_per_node: int) -> None:
    """Route what programs take for global to the rank that asks. For a process that is the cluster's alone."""
    sys.stdout = sys.stderr = StreamTo(output, owner)
    os.environ.update(WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(min(ranks, ranks_per_node)))
    os.environ.update(RANK="0", LOCAL_RANK="0")
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    env: Any = os.environ
    mine = RankEnvironment(env._data, env.encodekey, env.decodekey, env.encodevalue, env.decodevalue)
    setattr(os, "environ", mine)  # noqa: B010
    _route(random, random.Random, streams.random_of)
    _route(numpy.random, numpy.random.RandomState, streams.numpy_of)
    streams.watch_torch(current)
    for name in ("perf_counter", "monotonic", "time"):
        setattr(time, name, _virtual(getattr(time, name), 1))
        setattr(time, f"{name}_ns", _virtual(getattr(time, f"{name}_ns"), 10**9))
    setattr(time, "sleep", _sleep)  # noqa: B010
    setattr(asyncio.BaseEventLoop, "time", lambda _: _real_monotonic())  # noqa: B010
    setattr(os, "_exit", _leave)  # noqa: B010


def _route(module: Any, owner: type, stream: Callable[[int], Any]) -> None:
    """Let ``module.draw()`` draw from the stream of the rank that calls."""
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
    """The rank's clock. Who looks at it again and again, and does nothing else, takes time, more and more: so a loop
    that waits for the clock ends."""
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
    """``os._exit`` in a rank ends the run, and the run tells which rank it was. In a process that the rank has forked
    (a worker of a DataLoader, say) it ends that process."""
    rank = owner()
    if rank is None or os.getpid() != _local.simulation.pid:
        _real_exit(status)
    _local.simulation.left(rank, status)
    threading.Event().wait()
