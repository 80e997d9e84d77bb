"""Deadlock detection from outside the ranks: CPU time of their processes, their stacks, their journals.

A deadlock is reported if (1) no pending rank has used CPU time for a second, or is runnable, (2) each of them is inside
a communication call, by the stack that faulthandler writes on SIGUSR1, and (3) both still hold a moment later. A rank
that sleeps, computes or reads a file does not qualify, nor does one in a wait that has a timeout. A rank that does
nothing but poll ``is_completed()`` (busy_polling.py) does, although it uses CPU time.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import psutil
import torch

from lockstep import deadlock_report, places
from lockstep.comm.mismatch import rank_state
from lockstep.comm.operation import Operation
from lockstep.errors import RankState
from lockstep.forking.child import Child
from lockstep.launch import store
from lockstep.launch.busy_polling import asks
from lockstep.places import Place
from lockstep.record import limited_waits

QUIET = 1.0  # seconds without CPU time after which a deadlock is suspected
CONFIRM = 0.25  # seconds until it is confirmed
_TICKS = 0.02  # seconds of CPU time that a waiting process may use (its other threads wake up now and then)
_ANSWER = 0.1  # seconds that a process has to write its stack

Frame = tuple[str, int, str]  # file, line, function
_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_WAITS = (
    os.path.join(_TORCH, "distributed", ""),
    os.path.join(places.__file__.removesuffix("places.py"), "record", ""),
    store.__file__,
)
_QUERIES = {"get_rank", "get_world_size", "is_initialized", "get_backend", "get_global_rank", "get_group_rank"}
_LOOKS = ("__torch_dispatch__", "see", "is_completed", "_polled", "asked")  # of the Recorder, which never blocks there
_HOROVOD = os.path.join("", "horovod", "torch", "")
_ENDED = (os.path.join("lockstep", "with_horovod", "waits.py"), "leave")  # where a Horovod rank waits for the others
_LIMITED = limited_waits.__file__, limited_waits.ends_by_itself.__name__
_RETURNS = (os.path.join("launch", "pickled.py"), os.path.join("multiprocessing", "connection.py"))
_CALLS = os.path.join("torch", "_ops.py")  # where torch calls any operator


@dataclass(frozen=True)
class Stack:
    """The stack of a rank's main thread, innermost frame first."""

    frames: tuple[Frame, ...] = ()

    @property
    def place(self) -> Place:
        return places.of_stack(self.frames)

    def at(self, place: Place | None) -> bool:
        """Whether it is in the learner's function of this place."""
        mine = self.place.innermost
        return place is not None and (mine.file, mine.function) == (place.innermost.file, place.innermost.function)

    @property
    def ends_by_itself(self) -> bool:
        """Whether it is in a wait that has a timeout."""
        return any((file, function) == _LIMITED for file, _, function in self.frames)

    @property
    def communicates(self) -> bool:
        """Whether it is inside torch.distributed, or inside a backward pass, where DDP waits in C++."""
        frames = [f for f in self.frames if not f[0].endswith(_CALLS)]
        if not frames:
            return False
        file, _, function = frames[0]
        if function == "_engine_run_backward":
            return True
        return file.startswith(_WAITS) and function not in _LOOKS and self.call not in _QUERIES

    @property
    def call(self) -> str:
        """The call it is in: a function of torch.distributed ("all_reduce", "new_group"), or one of the store."""
        inside = [f for file, _, f in self.frames if file.startswith(_WAITS[0]) and f not in ("wrapper", "wait")]
        asked = [f for file, _, f in self.frames if file == store.__file__]
        return inside[-1] if inside else f"the store's {asked[-1]}" if asked else "a backward pass"

    @property
    def horovods(self) -> str:
        """The function of Horovod that the learner's code has called: "allreduce"; "" for none."""
        library = takewhile(lambda frame: places.is_library(frame[0]), self.frames)
        called = [function for file, _, function in library if _HOROVOD in file]
        return called[-1] if called else ""

    @property
    def returns(self) -> bool:
        """Whether the learner's function has returned, and its value is being pickled or sent."""
        return not self.place.file and any(file.endswith(_RETURNS) for file, _, _ in self.frames[:-1])

    @property
    def ended(self) -> bool:
        """Whether the learner's function has returned, and the rank waits for the others before it leaves Horovod."""
        return any(file.endswith(_ENDED[0]) and function == _ENDED[1] for file, _, function in self.frames)


class Watchdog:
    """Watches the processes of ranks. ``threads``: the id of each rank's main thread."""

    def __init__(self, children: Sequence[Child]) -> None:
        self._children = children
        self.threads: dict[int, int] = {}
        self._seen: tuple[frozenset[int], float] = (frozenset(), 0.0)
        self._since = time.monotonic()
        self._suspect = False
        self._stopped: dict[int, float] = {}  # rank → since when

    def stopped(self) -> int | None:
        """A rank whose process has been stopped (by SIGSTOP, say) for a second, or None. Call it periodically."""
        now = time.monotonic()
        stopped = [r for r, child in enumerate(self._children) if child.stopped]
        self._stopped = {r: self._stopped.get(r, now) for r in stopped}
        return next((r for r, since in self._stopped.items() if now - since >= QUIET), None)

    def alarm(self, pending: Sequence[int], asking: Mapping[int, Place]) -> Mapping[int, Stack] | None:
        """The stacks of the pending ranks if all of them are deadlocked, or None. Call it periodically. ``asking``:
        busy-waiting ranks, with the lines that poll."""
        now = time.monotonic()
        watched = frozenset(pending) - asking.keys()
        used = self._used(sorted(watched))
        same = self._seen[0] == watched and used is not None and used - self._seen[1] <= _TICKS
        if not same or used is None:
            self._seen, self._since, self._suspect = (watched, used or 0.0), now, False
            return None
        if now - self._since < (QUIET + CONFIRM if self._suspect else QUIET):
            return None
        stacks = self.stacks(pending)
        stuck = all(s.communicates or s.at(asking.get(r)) for r, s in stacks.items())
        if not stuck or any(s.ends_by_itself for s in stacks.values()):
            self._since, self._suspect = now, False
            return None
        if self._suspect:
            return stacks
        self._suspect = True
        return None

    def _used(self, pending: Sequence[int]) -> float | None:
        """Seconds of CPU time; None if a process is runnable, in disk sleep, stopped or gone."""
        total = 0.0
        for rank in pending:
            try:
                process = psutil.Process(self._children[rank].pid)
                if process.status() in (psutil.STATUS_RUNNING, psutil.STATUS_STOPPED, psutil.STATUS_DISK_SLEEP):
                    return None
                times = process.cpu_times()
            except psutil.Error:
                return None
            total += times.user + times.system
        return total

    def stacks(self, ranks: Sequence[int]) -> dict[int, Stack]:
        """The stacks of ranks; empty for a process that does not answer in time. A stopped one goes on."""
        before = {r: self._size(r) for r in ranks}
        for r in ranks:
            self._children[r].write_stack()
        found: dict[int, Stack] = {}
        deadline = time.monotonic() + _ANSWER
        while time.monotonic() < deadline and len(found) < len(ranks):
            time.sleep(0.005)
            for r in ranks:
                if r not in found and (frames := self._read(r, before[r])):
                    found[r] = Stack(frames)
        return {r: found.get(r, Stack()) for r in ranks}

    def _size(self, rank: int) -> int:
        return os.stat(self._children[rank].log).st_size

    def _read(self, rank: int, start: int) -> tuple[Frame, ...]:
        """The main thread's stack, from the log after offset ``start``; it is the last that faulthandler writes."""
        with open(self._children[rank].log, "rb") as log:
            log.seek(start)
            text = log.read(1_000_000).decode(errors="replace")
        name = f"0x{self.threads.get(rank, 0):016x}"
        _, found, block = text.partition(f"hread {name}")
        frames = re.findall(r'File "(.*?)", line (\d+) in (\S+)', block.split("\n\n")[0])
        outermost = ("forkserver.py", "spawned.py")
        whole = found and (any(f.endswith(outermost) for f, _, _ in frames) or "\n  ...\n" in block)
        return tuple((f, int(line), function) for f, line, function in frames) if whole else ()


def state_of(rank: int, log: Sequence[Operation], stack: Stack) -> RankState:
    """The state of a pending rank, from its journal and its stack."""
    waiting = [o for o in log if o.waiting]
    if waiting:
        return rank_state(waiting[-1])
    place = stack.place
    if stack.ended:
        return RankState(rank, "finished")
    if stack.horovods:
        return RankState(rank, "waiting", stack.horovods, str(place), place.source)
    if stack.returns:
        return RankState(rank, "computing", did=deadlock_report.RETURNS)
    unsettled = [o for o in log if o.end is None]
    if not stack.communicates:
        asked = asks(log)
        polled, did = (str(asked), deadlock_report.POLLS) if asked and stack.at(asked.polled) else ("", "")
        return RankState(rank, "computing", polled, str(place), place.source, did=did)
    if unsettled:
        return replace(rank_state(unsettled[0]), where=str(place), source=place.source)
    return RankState(rank, "waiting", stack.call, str(place), place.source)
