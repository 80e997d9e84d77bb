"""The process that is a virtual cluster, and the side of it that waits for the answer.

The ranks are threads of one child: it can be killed and interrupted, and leaves nothing behind in the notebook.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import mmap
import os
import re
import signal
import struct
import time
import warnings
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from lockstep import deadlock_report, places
from lockstep.comm import exits, restricted_pickle
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.output import TaggedOutput, show
from lockstep.errors import Exit, LockstepError, RunError, Stuck, WorldUnavailable
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.forking.child import CUT, Child
from lockstep.launch.job import INSIDE, Job
from lockstep.machines import Cluster
from lockstep.virtual import nested_runs

PATIENCE = 10.0  # seconds of host time without any operation, after which a rank counts as stuck
GRACE = 3.0  # seconds more until the child is given up
GLANCE = 0.5  # seconds between two looks at a child that tells nothing
TURN = struct.Struct("i")


def run_virtual(
    job: Job, cluster: Cluster, rules: Rules = RENDEZVOUS, ties: int | None = None, patience: float = PATIENCE
) -> Outcome:
    """Run ``job`` on a simulation of ``cluster``. Raises the RunError that ended it."""
    kind, content, printed = _answer(job, cluster, rules, ties, patience)
    if kind == "failed":
        content.printed = printed
        raise content
    told, trace, time_, memory = content
    given = [job.given_back(v) for v in told]
    return Outcome(given, trace, time_, [m.peak for m in memory], printed, memory=memory)


def _answer(job: Job, cluster: Cluster, rules: Rules, ties: int | None, patience: float) -> tuple[str, Any, str]:
    """What the ranks tell at their end, unopened: "done" or "failed", its content, and what was printed."""
    with starter.started("lockstep.virtual.cluster_process:main", 1) as (child,):
        with contextlib.suppress(OSError):  # its end will be heard
            child.conn.send((job, cluster, rules, ties, patience))
        return _Listener(child, job, patience).answer()


class _Listener:
    """Passes prints on and waits for the outcome, not for ever."""

    def __init__(self, child: Child, job: Job, patience: float) -> None:
        self.child, self.job = child, job
        self.printed: list[str] = []
        self.patience = patience
        self.deadline = time.monotonic() + job.timeout + patience + GRACE

    def answer(self) -> tuple[str, Any, str]:
        while True:
            kind, content = self._next()
            if kind == "print":
                self._print(content)
            elif kind == "run" and self.job.nests:
                self.child.conn.send(self._nested(content))
            elif kind in ("done", "failed"):
                return kind, content, "".join(self.printed)

    def _nested(self, asked: Any) -> tuple[str, Any]:
        """What an inner run tells, to be handed on."""
        try:
            inner, cluster, rules, ties = nested_runs.inner(self.job, asked)
        except (LockstepError, TypeError, ValueError, OverflowError):
            raise exits.error(Exit(whose_turn(self.child), "cut")) from None
        try:
            kind, content, _ = _answer(inner, cluster, rules, ties, self.patience)
        except RunError as error:
            return "failed", error
        return kind, content

    def _next(self) -> tuple[str, Any]:
        stopped = 0
        while wait([self.child.conn, self.child.fileno()], GLANCE) == []:
            stopped = stopped + 1 if self.child.stopped else 0
            if stopped > 2:
                raise deadlock_report.stopped(whose_turn(self.child))
            if time.monotonic() > self.deadline:
                raise self._unanswered()
        try:
            kind, content = restricted_pickle.receive(self.child.conn)
            return kind, content
        except (EOFError, OSError):
            raise died(self.child) from None
        except (restricted_pickle.Forged, ValueError):
            raise exits.error(Exit(whose_turn(self.child), "cut")) from None

    def _print(self, text: str) -> None:
        self.printed.append(text)
        show(text)

    def _unanswered(self) -> Stuck:
        """The child's own watch did not speak: a rank holds the interpreter, in C code."""
        os.kill(self.child.pid, signal.SIGUSR1)
        time.sleep(0.2)
        place = running_place(self.child.tail())
        return Stuck(f"Stuck: a rank does not come to an end{quoted(place)}.")


def show_whose_turn() -> memoryview[int]:
    """A number that the starter can read at any time, also when this process is stopped or dead: the first bytes of
    the log that the two have in common."""
    os.ftruncate(2, TURN.size)
    os.lseek(2, TURN.size, os.SEEK_SET)
    return memoryview(mmap.mmap(2, TURN.size)).cast("i")


def whose_turn(child: Child) -> int:
    """The rank that has, or had, the baton."""
    with open(child.log, "rb") as log:
        first = log.read(TURN.size)
    return int(TURN.unpack(first)[0]) if len(first) == TURN.size else 0


def quoted(place: places.Place) -> str:
    return f" at {place}: {place.source}" if place.file else ""


def running_place(dump: str) -> places.Place:
    """The learner's line of the thread in a faulthandler dump that is not waiting for the baton."""
    for block in re.split(r"\n\n", dump):
        frames = re.findall(r'File "(.*?)", line (\d+) in (\S+)', block)
        place = places.of_stack((f, int(line), name) for f, line, name in frames)
        if place.file and "scheduler.py" not in frames[0][0]:
            return place
    return places.NOWHERE


def died(child: Child) -> RunError:
    """The ranks share a process: the one whose turn it was ends all of them."""
    code = child.wait(5)
    if code == CUT:
        return exits.error(Exit(whose_turn(child), "cut"))
    end = exits.died(whose_turn(child), code, time.monotonic())
    if child.fault:
        raise WorldUnavailable(f"The virtual cluster has failed: {child.fault}.", "Restart the kernel, and try again.")
    place = running_place(child.tail())
    return exits.error(end, [exits.rank_state(end, place)] if place.file else [])


def prepare(seat: object) -> None:
    """What a spare does ahead (``lockstep.forking.preforked``): load what ``main`` needs."""
    importlib.import_module("lockstep.virtual.backend")
    importlib.import_module("lockstep.virtual.fake_simulation")
    torch.set_num_threads(1)


def main(conn: Connection) -> None:
    """In the child: be the cluster, once."""
    from lockstep.virtual import backend, modules, rank
    from lockstep.virtual.fake_simulation import FakeSimulation
    from lockstep.virtual.simulation import Simulation

    job, cluster, rules, ties, patience = conn.recv()
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    warnings.filterwarnings("ignore", module=r"(torch|lockstep)\.")  # here torch is often called by Lockstep
    torch.set_num_threads(1)
    job.sources.install()
    output = TaggedOutput(lambda text: conn.send(("print", text)), job.output_limit)
    backend.install()
    simulation = (FakeSimulation if job.fake else Simulation)(job, cluster, rules, ties)
    simulation.scheduler.baton = show_whose_turn()
    os.environ[INSIDE] = "virtual"
    rank.install(output, simulation.streams, job.ranks, cluster.ranks_per_node)
    modules.install(job.ranks, job.isolate)
    if job.nests:
        nested_runs.allow(conn)
    try:
        answer: tuple[str, Any] = ("done", simulation.run(patience))
    except RunError as error:
        answer = ("failed", error)
    output.close()
    conn.send(answer)
    with contextlib.suppress(EOFError, OSError):
        conn.recv_bytes()  # the starter hangs up
