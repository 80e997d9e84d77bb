"""``run_virtual``: the child process in which a virtual cluster runs, and the parent's side, which awaits the result.

The ranks are threads of one child process, which can be interrupted and killed, and leaves nothing in the notebook.
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
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from lockstep import deadlock_report, places
from lockstep.comm import exits, posted, restricted_pickle
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.memory_kills import MemoryKills
from lockstep.comm.output import PRINTED, TaggedOutput, show
from lockstep.comm.rank_variables import name_master, rank_variables
from lockstep.errors import Exit, LockstepError, RunError, Stuck, WorldUnavailable
from lockstep.events import Outcome
from lockstep.forking import shared_memory, starter
from lockstep.forking.child import CUT, Child
from lockstep.launch.job import INSIDE, Job
from lockstep.machines import Cluster
from lockstep.scripts import exit_handlers, spawned_processes
from lockstep.virtual import nested_runs
from lockstep.virtual.host_time import HostTime

PATIENCE = 10.0  # seconds of host time without any operation, after which a rank counts as stuck
GRACE = 3.0  # further seconds until the child is abandoned
PORT = 29500  # torch's default: nobody listens there
GLANCE = 0.5  # seconds between two checks of a silent child
TURN = struct.Struct("i")
# What ``main`` imports. The server loads it before the first run, and not the parent, which has no use for it.
IN_THE_CHILD = (
    "lockstep.virtual.backend",
    "lockstep.virtual.rank_environment",
    "lockstep.virtual.rank_loggers",
    "lockstep.virtual.signals",
    "lockstep.virtual.simulation",
)


def run_virtual(
    job: Job, cluster: Cluster, rules: Rules = RENDEZVOUS, ties: int | None = None, patience: float = PATIENCE
) -> Outcome:
    """Run ``job`` on a simulation of ``cluster``. Raises the RunError that ended it."""
    kind, content, printed = _answer(job, cluster, rules, ties, patience)
    if kind == "failed":
        content.printed = printed
        raise content
    told, trace, time_, memory = content
    given = job.given_back(told, trace, printed)
    return Outcome(given, trace, time_, [m.peak for m in memory], printed, memory=memory)


def _answer(job: Job, cluster: Cluster, rules: Rules, ties: int | None, patience: float) -> tuple[str, Any, str]:
    """The child's answer, with values still pickled: "done" or "failed", its content, and what was printed."""
    entry = "lockstep.virtual.cluster_process:main"
    modules = [*job.modules(), *IN_THE_CHILD, simulation_of(job)]
    with shared_memory.tidied() as segments, starter.started(entry, 1, modules) as (child,):
        with contextlib.suppress(OSError):  # the child's end will be noticed below
            child.conn.send((job, cluster, rules, ties, patience, segments))
        return _Listener(child, job, patience).answer()


class _Listener:
    """The parent's side: forwards prints, starts nested runs, and waits for the outcome, with a deadline."""

    def __init__(self, child: Child, job: Job, patience: float) -> None:
        self.child, self.job = child, job
        self.printed: list[str] = []
        self.patience = patience
        self.memory_kills = MemoryKills()
        self.limit, self.clock = job.timeout + patience + GRACE, HostTime(child.pid)

    def answer(self) -> tuple[str, Any, str]:
        while True:
            kind, content = self._next()
            if kind in PRINTED:
                self._print(content, kind)
            elif kind == "run" and self.job.nests:
                self.child.conn.send(self._nested(content))
            elif kind in ("done", "failed"):
                return kind, content, "".join(self.printed)

    def _nested(self, asked: Any) -> tuple[str, Any]:
        """Execute a nested run, and return its answer to be forwarded."""
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
            if self.clock.now() > self.limit:
                raise self._unanswered()
        try:
            kind, content = restricted_pickle.receive(self.child.conn)
            return kind, content
        except (EOFError, OSError):
            raise died(self.child, self.memory_kills) from None
        except (restricted_pickle.Forged, ValueError):
            raise exits.error(Exit(whose_turn(self.child), "cut")) from None

    def _print(self, text: str, stream: str) -> None:
        self.printed.append(text)
        show(text, stream)

    def _unanswered(self) -> Stuck:
        """The error when the child's own supervisor has not reported: a rank holds the GIL in C code."""
        self.child.write_stack()
        time.sleep(0.2)
        place = running_place(self.child.tail())
        return Stuck(f"Stuck: a rank does not come to an end{quoted(place)}.")


def simulation_of(job: Job) -> str:
    """The module with the kind of simulation that the job needs, as its ``SIMULATION``. Two of the three import much of
    torch."""
    kind = "fake_simulation" if job.fake else "pretended_cuda.simulation" if job.pretend_cuda else "simulation"
    return f"lockstep.virtual.{kind}"


def show_whose_turn() -> memoryview[int]:
    """Shared memory for the rank that has the baton: the first bytes of the log file, which the parent can read even
    when this process is stopped or dead."""
    os.ftruncate(2, TURN.size)
    os.lseek(2, TURN.size, os.SEEK_SET)
    return memoryview(mmap.mmap(2, TURN.size)).cast("i")


def whose_turn(child: Child) -> int:
    """The rank that has the baton, or had it last."""
    with open(child.log, "rb") as log:
        first = log.read(TURN.size)
    return int(TURN.unpack(first)[0]) if len(first) == TURN.size else 0


def quoted(place: places.Place) -> str:
    return f" at {place}: {place.source}" if place.file else ""


def running_place(dump: str) -> places.Place:
    """The learner's line in a faulthandler dump, from the thread that is not waiting for the baton."""
    for block in re.split(r"\n\n", dump):
        frames = re.findall(r'File "(.*?)", line (\d+) in (\S+)', block)
        place = places.of_stack((f, int(line), name) for f, line, name in frames)
        if place.file and "scheduler.py" not in frames[0][0]:
            return place
    return places.NOWHERE


def died(child: Child, before: MemoryKills) -> RunError:
    """The error when the child has died: the ranks share it, and the one with the baton is to blame."""
    code = child.wait(5)
    if code == CUT:
        return exits.error(Exit(whose_turn(child), "cut"))
    starved = MemoryKills().since(before)
    end = exits.died(whose_turn(child), code, time.monotonic(), "", starved, child.orphaned)
    if child.fault:
        remedy = "Run it again, and report it if it comes back: that is no fault of your function."
        raise WorldUnavailable(f"The virtual cluster has failed: {child.fault}.", remedy)
    place = running_place(child.tail())
    return exits.error(end, [exits.rank_state(end, place)] if place.file else [])


def prepare(seat: object) -> None:
    """Called in a preforked process (``lockstep.forking.preforked``)."""
    torch.set_num_threads(1)


def said(conn: Connection, stream: str, text: str) -> None:
    conn.send((stream, text))


def main(conn: Connection) -> None:
    """The entry point of the child: simulate one run."""
    from lockstep.virtual import backend, module_isolation, rank_environment, rank_loggers, rank_threads
    from lockstep.virtual.signals import Signals

    job, cluster, rules, ties, patience, segments = conn.recv()
    shared_memory.track(segments)
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2, all_threads=True)
    warnings.filterwarnings("ignore", module=r"(torch|lockstep)\.")  # Lockstep calls much of torch here
    torch.set_num_threads(1)
    job.sources.install()
    output, errors = (TaggedOutput(partial(said, conn, to), job.output_limit, job.tag) for to in PRINTED)
    errors = errors if job.script else output
    backend.install()
    simulation = importlib.import_module(simulation_of(job)).SIMULATION(job, cluster, rules, ties)
    simulation.scheduler.baton = show_whose_turn()
    os.environ[INSIDE] = "virtual"
    posted.provide(simulation.posted, rank_threads.owner)
    name_master("127.0.0.1", PORT)
    rank_threads.install(output, errors, simulation.streams)
    rank_environment.install([rank_variables(r, job.ranks, cluster.ranks_per_node) for r in range(job.ranks)])
    rank_loggers.install()
    Signals().install()
    simulation.process.install()
    module_isolation.install(job.ranks, job.isolate)
    exit_handlers.install(rank_threads.owner)
    spawned_processes.install(spawned_processes.refused)
    if job.nests:
        nested_runs.allow(conn)
    try:
        answer: tuple[str, Any] = ("done", simulation.run(patience))
    except RunError as error:
        answer = ("failed", error)
    output.close()
    errors.close()
    conn.send(answer)
    with contextlib.suppress(EOFError, OSError):
        conn.recv_bytes()  # the starter hangs up
