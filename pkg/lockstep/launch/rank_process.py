"""The process of one rank: join the group, run the learner's function under the Recorder, send back the outcome.

parent → rank   Task                     the job, and which rank
rank → parent   ("ready", thread, leave) it has joined; ``leave``: the group must be destroyed at the end
parent → rank   ("go", time)             time.monotonic() at the beginning of the run, the same for all
rank → parent   ("stdout", text, cut)    any number of these, and of "stderr"
rank → parent   ("ended", Returned or Exit)
parent → rank   ("leave",)               only if the group must be destroyed; otherwise the rank is killed now. A rank
                                         that left earlier would break its peers' connections
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
import torch
import torch.distributed as dist
from torch.distributed import Store  # type: ignore[attr-defined]

from lockstep import places
from lockstep.comm import exits, posted
from lockstep.comm.output import PRINTED, RankOutput
from lockstep.comm.rank_variables import name_master, rank_variables
from lockstep.errors import Exit
from lockstep.events import Memory
from lockstep.forking import shared_memory
from lockstep.forking.preforked import Seat
from lockstep.launch import joining
from lockstep.launch.job import INSIDE, Job, seed_rank
from lockstep.launch.post_mortem import journal_of
from lockstep.record import Recorder
from lockstep.residency import Residency
from lockstep.scripts import exit_handlers, spawned_processes

REHEARSALS = 2  # warm-up runs of a spare: with 8 the next run was no faster, and four spares took 90 ms of CPU more


@dataclass(frozen=True)
class Task:
    job: Job
    rank: int
    directory: str  # for the rendezvous, and for the journal of each rank
    port: int  # a free port, for a program that opens its own store at MASTER_PORT
    segments: str  # the file in which shared memory is registered


@dataclass(frozen=True)
class Returned:
    blob: bytes
    time: float  # seconds since the run began
    memory: Memory


def main(conn: Connection) -> None:
    task: Task = conn.recv()
    lock = threading.Lock()

    def tell(*message: Any) -> None:
        with lock:
            conn.send(message)

    shared_memory.track(task.segments)
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2, all_threads=True)
    out, errors = (RankOutput(partial(tell, stream), task.job.output_limit) for stream in PRINTED)
    errors = errors if task.job.script else out
    try:
        store = enter(task)  # noqa: F841  # kept until the end
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        tell("ended", Exit(task.rank, "unavailable", message=reason))
        return
    tell("ready", threading.main_thread().ident, dist.get_backend() != "gloo")
    _, began = conn.recv()
    sys.stdout, sys.stderr = out, errors
    exit_handlers.install(lambda: task.rank)
    spawned_processes.install(spawned_processes.refused)
    me = os.getpid()
    outcome = live(task, began, lambda reason: tell("ended", Exit(task.rank, "unavailable", message=reason)))
    if os.getpid() != me:  # the function has forked, and the child has returned from it, too
        os._exit(0)
    out.flush()
    errors.flush()
    tell("ended", outcome)
    conn.recv()
    joining.leave()


def enter(task: Task) -> Store | None:
    """Become the rank: set the environment and join the group, unless ``prepare`` has done so."""
    task.job.sources.install()
    name_master("127.0.0.1", task.port)
    if dist.is_initialized():
        return None
    become(task.rank, task.job.ranks)
    return joining.meet(os.path.join(task.directory, "store"), task.rank, task.job.ranks)


def become(rank: int, ranks: int) -> None:
    os.environ.update({INSIDE: "processes", **rank_variables(rank, ranks, ranks)})
    joining.use_loopback()
    warnings.filterwarnings("ignore", module=r"torch\.")


def prepare(seat: Seat) -> Store | None:
    """Called ahead of time in a spare (``forking.preforked``): join the group, and warm up with a small function.

    The first operations of a process are slow: pages are copied on write, torch fills its caches, Python specializes
    its bytecode, and connections carry their first message. All messages have been received when this returns."""
    become(seat.rank, seat.size)
    if joining.on_gpus(seat.size):  # an idle spare must not occupy a GPU's memory
        return None
    store = joining.meet(seat.store, seat.rank, seat.size)
    rehearse(seat.rank, seat.size)
    return store


def rehearse(rank: int, ranks: int) -> None:
    code = first_steps.__code__.replace(co_filename=os.devnull)  # a file outside the library: as the learner's is
    job = Job(cloudpickle.dumps((types.FunctionType(code, globals()), (), {})), ranks)
    journal = Journal(os.devnull, lambda _: None)
    for _ in range(REHEARSALS):
        residency = Residency(time.monotonic)
        job.blob_of(carry_out(job, rank, time.monotonic(), residency, journal.write))
        residency.memory()


def first_steps() -> float:
    """The function that warms up a rank: tensors, messages, a collective, an .item()."""
    x, rank, size = torch.ones(2), dist.get_rank(), dist.get_world_size()
    y = torch.empty_like(x)
    if size > 1:
        sent, got = dist.isend(x * 2, (rank + 1) % size), dist.irecv(y, (rank - 1) % size)
        for work in (sent, got):
            work and work.wait()
    dist.all_reduce(x)
    dist.barrier()
    return x.sum().item()


class Journal:
    """The file of the rank's journal. If it cannot be written, the run ends by ``give_up``, without blaming the
    function. The descriptor stays open until the process ends; an unclosed file object would make Python warn."""

    def __init__(self, path: str, give_up: Callable[[str], None]) -> None:
        self._directory, self._give_up = os.path.dirname(path), give_up
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, entry: bytes) -> None:
        """Append an entry. An empty one only touches the file: the rank goes on as before."""
        try:
            if not entry:
                os.utime(self._file)
            if os.write(self._file, entry) == len(entry):
                return
            reason = "No space left on device"
        except OSError as error:
            reason = error.strerror or str(error)
        self._give_up(f"there is no room for its journal in {self._directory} ({reason})")
        threading.Event().wait()


def live(task: Task, began: float, give_up: Callable[[str], None]) -> Returned | Exit:
    """Run the function, and return its value or, for any exception, even SystemExit, its Exit."""
    residency = Residency(lambda: time.monotonic() - began)
    journal = Journal(journal_of(task.directory, task.rank), give_up)
    meetings = (os.path.join(task.directory, f"store-{n}") for n in count(1))
    given = joining.given(
        task.rank, task.job.ranks, lambda: joining.meeting(next(meetings), task.job.ranks), joining.LONG
    )
    try:
        with joining.adoption(given):
            value = carry_out(task.job, task.rank, began, residency, journal.write)
        ended = time.monotonic() - began
        return Returned(task.job.blob_of(value), ended, residency.memory())
    except BaseException as error:
        return exits.raised(task.rank, error)


def carry_out(
    job: Job,
    rank: int,
    began: float,
    residency: Residency,
    journal: Callable[[bytes], object] | None = None,
    keep: Callable[[Recorder], object] | None = None,
) -> Any:
    """Execute the function on this rank, also under a launcher, and return its value. ``keep`` gets the Recorder."""
    fn, args, kwargs = job.unpack(rank)
    residency.adopt((fn, args, kwargs))
    seed_rank(job.seed, rank)
    if not job.record:
        return places.outermost(fn, args, kwargs)
    with Recorder(rank, began, journal, residency) as recorder:
        posted.provide(recorder.operations, lambda: rank)
        if keep:
            keep(recorder)
        return places.outermost(fn, args, kwargs)
