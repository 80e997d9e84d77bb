"""The judge's side of a sandbox: starts it, asks it for a run, waits for the result, and kills it at its limits.

The seed, the exercise and the judge are on this side. What comes from inside is read as plain data, or not at all.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import wait

import psutil

from lockstep.checks import calls
from lockstep.comm import exits
from lockstep.comm.backend_rules import Rules
from lockstep.errors import Exit, LockstepError, WorldUnavailable
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.forking.child import Child
from lockstep.forking.preloaded import RARE
from lockstep.grading import bubblewrap, sandbox_worker
from lockstep.grading.sandbox import BUBBLEWRAP, FORK, Limits
from lockstep.grading.sandbox_messages import LONGEST, Forged, decoded
from lockstep.grading.sandbox_view import View
from lockstep.launch.job import Job
from lockstep.virtual.cluster_process import IN_THE_CHILD
from lockstep.worlds import Where

START_LIMIT = 60.0  # seconds until a sandbox is there, on a busy machine
GRACE = 90.0  # seconds beyond a run's own limit: for starting its ranks, and for the report on them
MOST_LOST = 2  # sandboxes that an answer may end; then all its runs end so, and nobody waits for them
GLANCE = 0.25  # seconds between two looks at what a sandbox takes
# Loaded before there is a sandbox. Nothing of an answer comes with them, or `hidden_answers.forget` takes it away.
MODULES = (
    "lockstep.grading.sandbox_worker",
    "lockstep.virtual.cluster_process",
    "lockstep.launch.rank_process",
    "lockstep.checks.rank_program",
)


@dataclass
class Sandbox:
    """A sandbox that is made when it is first needed, and anew when it has ended."""

    view: View
    kind: str = FORK
    answer: str = ""  # the module that the view does not show as it is
    limits: Limits = field(default_factory=Limits)
    memory: int = 4 << 30  # bytes, of all processes together
    most: int = 200  # processes
    loads: set[str] = field(default_factory=set, init=False)  # modules that its runs need
    ended: list[str] = field(default_factory=list, init=False)  # why each one that has ended did
    _last: Exit = field(default=Exit(0, "gone"), init=False)  # how the last of them ended
    _child: Child | None = field(default=None, init=False)
    _shared: int = field(default=0, init=False)  # bytes of a process that has done nothing yet

    def carry(self, job: Job, where: Where, rules: Rules, ties: int | None) -> Outcome:
        """`worlds.carry_out`, inside the sandbox: a run's outcome. Raises what it raised, or why the sandbox ended."""
        if len(self.ended) >= MOST_LOST:
            raise exits.error(self._last)
        child = self._running()
        note = calls.current
        try:
            child.conn.send((job, where, rules, ties, str(note.path) if note else ""))
            if not self._heard(child, job.timeout + GRACE):
                raise self._lost("did not answer any more", Exit(0, "silent", when=time.monotonic()))
            told, begun = decoded(child.conn.recv_bytes(LONGEST), sandbox_worker.Told)
        except (EOFError, OSError):
            raise self._lost("was ended from inside", exits.died(0, self._status(child), time.monotonic())) from None
        except Forged:
            raise self._lost("told what is no fact", Exit(0, "cut", when=time.monotonic())) from None
        if note and begun:
            note.take_over(calls.Begun(*begun))
        if isinstance(told, LockstepError):
            raise told
        outcome: Outcome = told
        return outcome

    def warm_up(self, modules: Iterable[str] = ()) -> None:
        """Make it now, with these modules loaded, if a run could use it. Raises WorldUnavailable where this machine
        allows none of its kind."""
        self.loads.update(modules)
        if len(self.ended) < MOST_LOST:
            self._running()

    def close(self) -> None:
        if self._child:
            self._child.close()
        self._child = None

    def _running(self) -> Child:
        if self._child and self._child.exitcode is None:
            return self._child
        self.close()
        self._child = child = self._started()
        try:
            if not wait([child.conn], START_LIMIT):
                raise WorldUnavailable(f"No sandbox came up within {START_LIMIT:.0f} s.")
            message = child.conn.recv_bytes(1 << 16)
        except (EOFError, OSError):
            raise WorldUnavailable(f"The sandbox did not come up: {child.tail(500).strip() or 'it ended'}.") from None
        if message != sandbox_worker.READY:
            raise decoded(message, LockstepError)
        self._shared = sum(_private(p) for p in _family(child)) // max(1, len(_family(child)))
        return child

    def _started(self) -> Child:
        loads = sorted(self.loads)
        if self.kind == BUBBLEWRAP:
            child: Child = bubblewrap.start(self.view)
            told: object = self.limits, [*MODULES, *loads], self.answer
        else:
            starter.warm_up([*MODULES, *RARE, *IN_THE_CHILD, *(m for m in loads if not m.startswith("lockstep."))])
            (child,) = starter.start("lockstep.grading.sandbox_worker:main", 1)
            told = self.view, self.limits, loads, self.answer
        with contextlib.suppress(OSError):  # it has ended, and its log says why
            child.conn.send(told)
        return child

    def _heard(self, child: Child, seconds: float) -> bool:
        """Whether it has answered in time, and took no more than it may."""
        deadline = time.monotonic() + seconds
        while not wait([child.conn, child.fileno()], GLANCE):
            if time.monotonic() > deadline:
                return False
            if (too_much := self._too_much(child)) is not None:
                raise self._lost(too_much, Exit(0, "killed", status=signal.SIGKILL, message=too_much))
        return True

    def _too_much(self, child: Child) -> str | None:
        family = _family(child)
        if len(family) > self.most:
            return f"was ended: it took more than {self.most} processes"
        if sum(max(0, _private(p) - self._shared) for p in family) > self.memory:
            return f"was ended: it took more than {self.memory / (1 << 30):.3g} GiB of memory"
        return None

    def _lost(self, why: str, end: Exit) -> Exception:
        self.ended.append(why)
        self._last = end
        self.close()
        return exits.error(end)

    @staticmethod
    def _status(child: Child) -> int:
        code = child.wait(5)
        return -signal.SIGKILL if code is None else code


def _family(child: Child) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return list(psutil.Process(child.pid).children(recursive=True))
    return []


def _private(process: psutil.Process) -> int:
    """Bytes that it does not share with files; a fork counts what it has not copied, too."""
    try:
        used = process.memory_info()
        return int(used.rss - used.shared)
    except psutil.Error:
        return 0
