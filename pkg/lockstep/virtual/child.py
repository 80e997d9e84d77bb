"""The process that is a virtual cluster, and the side of it that waits for the answer.

The ranks are threads of one child: it can be killed and interrupted, and leaves nothing behind in the notebook.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import sys
import time
import warnings
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from lockstep import places
from lockstep.errors import RankDied, RunError, Stuck
from lockstep.events import Outcome
from lockstep.launch import server, values
from lockstep.launch.child import Child
from lockstep.launch.job import INSIDE, Job
from lockstep.machines import Cluster

PATIENCE = 10.0  # seconds of host time without any operation, after which a rank counts as stuck
GRACE = 3.0  # seconds more until the child is given up


def run_virtual(job: Job, cluster: Cluster, eager: bool = False, patience: float = PATIENCE) -> Outcome:
    """Run ``job`` on a simulation of ``cluster``. Raises the RunError that ended it."""
    child = server.start("lockstep.virtual.child:main", 1)[0]
    try:
        child.conn.send((job, cluster, eager, patience))
        return _Listener(child, job, patience).outcome()
    finally:
        child.close()


class _Listener:
    """Passes prints on and waits for the outcome, not for ever."""

    def __init__(self, child: Child, job: Job, patience: float) -> None:
        self.child = child
        self.printed: list[str] = []
        self.patience = patience
        self.deadline = time.monotonic() + job.timeout + patience + GRACE

    def outcome(self) -> Outcome:
        while True:
            kind, content = self._next()
            if kind == "print":
                self._print(content)
            elif kind == "done":
                told, trace, time_, memory = content
                given = [values.loads(v) for v in told]
                return Outcome(given, trace, time_, [m.peak for m in memory], "".join(self.printed), memory=memory)
            elif kind == "failed":
                content.printed = "".join(self.printed)
                raise content

    def _next(self) -> tuple[str, Any]:
        while wait([self.child.conn, self.child.fileno()], 1.0) == []:
            if time.monotonic() > self.deadline:
                raise self._unanswered()
        try:
            message: tuple[str, Any] = self.child.conn.recv()
            return message
        except (EOFError, ConnectionResetError):
            raise died(self.child) from None

    def _print(self, text: str) -> None:
        self.printed.append(text)
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.write(text)
            sys.stdout.flush()

    def _unanswered(self) -> Stuck:
        """The child's own watch did not speak: a rank holds the interpreter, in C code."""
        os.kill(self.child.pid, signal.SIGUSR1)
        time.sleep(0.2)
        place = running_place(self.child.tail())
        return Stuck(f"Stuck: a rank does not come to an end{quoted(place)}.")


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


def died(child: Child) -> RankDied:
    code = child.wait(5)
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = {"SIGKILL": ": out of memory?", "SIGSEGV": ": segmentation fault"}.get(name, "")
        return RankDied(f"A rank was killed by {name}{hint}{quoted(running_place(child.tail()))}.")
    return RankDied(f"A rank ended the whole run: its process left with status {code}.")


def main(conn: Connection) -> None:
    """In the child: be the cluster, once."""
    from lockstep.virtual import backend, rank
    from lockstep.virtual.fake_simulation import FakeSimulation
    from lockstep.virtual.simulation import Simulation

    job, cluster, eager, patience = conn.recv()
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    warnings.filterwarnings("ignore", module=r"torch\.distributed")
    torch.set_num_threads(1)
    job.sources.install()
    prints = rank.Prints(lambda text: conn.send(("print", text)), job.output_limit)
    backend.install()
    simulation = (FakeSimulation if job.fake else Simulation)(job, cluster, eager)
    os.environ[INSIDE] = "virtual"
    rank.install(prints, simulation.streams, job.ranks, cluster.ranks_per_node)
    try:
        answer: tuple[str, Any] = ("done", simulation.run(patience))
    except RunError as error:
        answer = ("failed", error)
    prints.close_lines()
    conn.send(answer)
    with contextlib.suppress(EOFError, OSError):
        conn.recv_bytes()  # the starter hangs up
