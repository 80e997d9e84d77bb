"""Is a run stuck? Seen from outside: what the ranks' processes use, where they stand, what their journals say.

A deadlock is reported when (1) no pending rank has used the processor for a second, nor wants to, (2) each of them
stands inside a communication call, by the stack that faulthandler writes on SIGUSR1, and (3) both are still so a
moment later. A rank that sleeps, computes or reads a file is none of that. One that asks ``is_completed()`` in vain and
does nothing else (busy_polling.py) is, although it uses the processor.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import psutil
import torch

from lockstep import deadlock_report, places
from lockstep.comm.agreement import rank_state
from lockstep.comm.operation import Operation
from lockstep.errors import RankState
from lockstep.forking.child import Child
from lockstep.launch import store
from lockstep.launch.busy_polling import asks
from lockstep.places import Place

QUIET = 1.0  # seconds without work that arouse suspicion
CONFIRM = 0.25  # seconds until it is confirmed
_TICKS = 0.02  # seconds of processor time that a waiting process may use (its other threads wake up now and then)
_ANSWER = 0.1  # seconds that a process has to write its stack

Frame = tuple[str, int, str]  # file, line, function
_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_WAITS = (
    os.path.join(_TORCH, "distributed", ""),
    os.path.join(places.__file__.removesuffix("places.py"), "record", ""),
    store.__file__,
)
_QUERIES = {"get_rank", "get_world_size", "is_initialized", "get_backend", "get_global_rank", "get_group_rank"}
_LOOKS = ("__torch_dispatch__", "see", "is_completed", "_polled", "asked")  # of the Recorder: it waits for nobody there
_HOROVOD = os.path.join("", "horovod", "torch", "")
_ENDED = (os.path.join("lockstep", "with_horovod", "waits.py"), "leave")  # where a rank of Horovod awaits the others
_CALLS = os.path.join("torch", "_ops.py")  # where an operator is called, whichever it is


@dataclass(frozen=True)
class Stack:
    """Where a rank's main thread stands, innermost frame first."""

    frames: tuple[Frame, ...] = ()

    @property
    def place(self) -> Place:
        return places.of_stack(self.frames)

    def at(self, place: Place | None) -> bool:
        """Whether it stands in the learner's function that has this place."""
        mine = self.place
        return place is not None and (mine.file, mine.function) == (place.file, place.function)

    @property
    def communicates(self) -> bool:
        """Whether it stands inside torch.distributed, or inside a backward pass, where DDP waits in C++."""
        frames = [f for f in self.frames if not f[0].endswith(_CALLS)]
        if not frames:
            return False
        file, _, function = frames[0]
        if function == "_engine_run_backward":
            return True
        return file.startswith(_WAITS) and function not in _LOOKS and self.call not in _QUERIES

    @property
    def call(self) -> str:
        """What was called: a function of torch.distributed ("all_reduce", "new_group"), or one of the store."""
        inside = [f for file, _, f in self.frames if file.startswith(_WAITS[0]) and f not in ("wrapper", "wait")]
        asked = [f for file, _, f in self.frames if file == store.__file__]
        return inside[-1] if inside else f"the store's {asked[-1]}" if asked else "a backward pass"

    @property
    def horovods(self) -> str:
        """The function of Horovod that it stands in, as the learner has called it: "allreduce"; "" for none."""
        library = takewhile(lambda frame: places.is_library(frame[0]), self.frames)
        called = [function for file, _, function in library if _HOROVOD in file]
        return called[-1] if called else ""

    @property
    def ended(self) -> bool:
        """Whether the learner's function has, and the rank waits for the others in order to leave Horovod."""
        return any(file.endswith(_ENDED[0]) and function == _ENDED[1] for file, _, function in self.frames)


class Watchdog:
    """Watches the processes of ranks. ``threads`` has the id of each rank's main thread."""

    def __init__(self, children: Sequence[Child]) -> None:
        self._children = children
        self.threads: dict[int, int] = {}
        self._seen: tuple[frozenset[int], float] = (frozenset(), 0.0)
        self._since = time.monotonic()
        self._suspect = False
        self._stopped: dict[int, float] = {}  # rank → since when

    def stopped(self) -> int | None:
        """A rank whose process has been stopped for a second (by SIGSTOP, say). Call it now and then."""
        now = time.monotonic()
        stopped = [r for r, child in enumerate(self._children) if child.stopped]
        self._stopped = {r: self._stopped.get(r, now) for r in stopped}
        return next((r for r, since in self._stopped.items() if now - since >= QUIET), None)

    def alarm(self, pending: Sequence[int], asking: Mapping[int, Place]) -> Mapping[int, Stack] | None:
        """The stacks of the pending ranks when all of them are deadlocked; None otherwise. Call it now and then.
        ``asking``: where ranks ask in vain."""
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
        if not all(s.communicates or s.at(asking.get(r)) for r, s in stacks.items()):
            self._since, self._suspect = now, False
            return None
        if self._suspect:
            return stacks
        self._suspect = True
        return None

    def _used(self, pending: Sequence[int]) -> float | None:
        """Seconds of processor time; None when a process runs, waits for a processor, is stopped or gone."""
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
        """Where the ranks stand. A process that does not answer in time has an empty stack."""
        before = {r: self._size(r) for r in ranks}
        for r in ranks:
            with contextlib.suppress(ProcessLookupError):
                if self._children[r].exitcode is None:
                    os.kill(self._children[r].pid, signal.SIGUSR1)
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
        """The main thread's stack in what the log has got since; it is the last that faulthandler writes."""
        with open(self._children[rank].log, "rb") as log:
            log.seek(start)
            text = log.read(1_000_000).decode(errors="replace")
        name = f"0x{self.threads.get(rank, 0):016x}"
        _, found, block = text.partition(f"hread {name}")
        frames = re.findall(r'File "(.*?)", line (\d+) in (\S+)', block.split("\n\n")[0])
        outermost = ("forkserver.py", "spares.py")
        whole = found and (any(f.endswith(outermost) for f, _, _ in frames) or "\n  ...\n" in block)
        return tuple((f, int(line), function) for f, line, function in frames) if whole else ()


def state_of(rank: int, log: Sequence[Operation], stack: Stack) -> RankState:
    """Where a pending rank stands, from its journal and its stack."""
    waiting = [o for o in log if o.waiting]
    if waiting:
        return rank_state(waiting[-1])
    place = stack.place
    if stack.ended:
        return RankState(rank, "finished")
    if stack.horovods:
        return RankState(rank, "waiting", stack.horovods, str(place), place.source)
    unsettled = [o for o in log if o.end is None]
    if not stack.communicates:
        asked = asks(log)
        polled, did = (str(asked), deadlock_report.POLLS) if asked and stack.at(asked.polled) else ("", "")
        return RankState(rank, "computing", polled, str(place), place.source, did=did)
    if unsettled:
        return replace(rank_state(unsettled[0]), where=str(place), source=place.source)
    return RankState(rank, "waiting", stack.call, str(place), place.source)
