"""What one rank does: join the group, run the learner's function under the Recorder, send back what became of it.

parent → rank   Task                     what to do, as which rank
rank → parent   ("ready", thread, leave) the group is there; it must be left in due form
parent → rank   ("go", time)             time.monotonic() at which the run begins, alike for all
rank → parent   ("print", text, cut)     any number of these
rank → parent   ("ended", Returned or Exit)
parent → rank   ("leave",)               only where a group must be destroyed; elsewhere the rank is killed now. One
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
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
import torch
import torch.distributed as dist
from torch.distributed import Store  # type: ignore[attr-defined]

from lockstep import places
from lockstep.comm import exits
from lockstep.comm.output import RankOutput
from lockstep.errors import Exit
from lockstep.events import Memory
from lockstep.forking.preforked import Seat
from lockstep.launch import joining
from lockstep.launch.job import INSIDE, Job, seed_rank
from lockstep.launch.post_mortem import journal_of
from lockstep.record import Recorder
from lockstep.residency import Residency

REHEARSALS = 8  # of a spare


@dataclass(frozen=True)
class Task:
    job: Job
    rank: int
    directory: str  # where the ranks meet, and where each keeps its journal
    port: int  # free, for a program that opens one of its own at MASTER_PORT


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

    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    prints = RankOutput(lambda text, cut: tell("print", text, cut), task.job.output_limit)
    try:
        store = enter(task)  # noqa: F841  # kept until the end
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        tell("ended", Exit(task.rank, "unavailable", message=reason))
        return
    tell("ready", threading.main_thread().ident, dist.get_backend() != "gloo")
    _, began = conn.recv()
    sys.stdout = sys.stderr = prints
    me = os.getpid()
    outcome = live(task, began, lambda reason: tell("ended", Exit(task.rank, "unavailable", message=reason)))
    if os.getpid() != me:  # a process that the function has forked, and that came back as if it were the rank
        os._exit(0)
    prints.flush()
    tell("ended", outcome)
    conn.recv()
    joining.leave()


def enter(task: Task) -> Store | None:
    """Become the rank: its environment, its place in the group. A spare has done so ahead."""
    task.job.sources.install()
    joining.name_master("127.0.0.1", task.port)
    if dist.is_initialized():
        return None
    become(task.rank, task.job.ranks)
    return joining.meet(os.path.join(task.directory, "store"), task.rank, task.job.ranks)


def become(rank: int, ranks: int) -> None:
    os.environ.update({INSIDE: "processes", "RANK": str(rank), "LOCAL_RANK": str(rank), "GROUP_RANK": "0"})
    os.environ.update(WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks))
    joining.use_loopback()
    warnings.filterwarnings("ignore", module=r"torch\.")


def prepare(seat: Seat) -> Store | None:
    """What a spare does ahead: join the group, and run a small function in it a few times, as if that were the job.

    The first times are slow: for the pages that a fork copies when it writes to them, for what torch looks up when it
    is first asked, for Python, which adapts its code to what it meets, for the first message over a connection. What is
    sent here has arrived everywhere when it returns."""
    become(seat.rank, seat.size)
    if joining.on_gpus(seat.size):  # the memory of a GPU is not for those that wait
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
    """What many programs begin with: tensors, messages, a collective, a number."""
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
    """The rank's journal. Without one nobody could say what the rank did: when there is no room for it, the run ends
    (``give_up``), and the function is not blamed. Open until the process ends, no file object: Python would warn."""

    def __init__(self, path: str, give_up: Callable[[str], None]) -> None:
        self._directory, self._give_up = os.path.dirname(path), give_up
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, entry: bytes) -> None:
        """An empty entry says that the rank still does what it did."""
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
    """Run the function. Whatever it raises, even SystemExit, is the answer then."""
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
    """The function's value on this rank. Also what a rank under a launcher does; ``keep`` gets its Recorder."""
    fn, args, kwargs = job.unpack(rank)
    residency.adopt((fn, args, kwargs))
    seed_rank(job.seed, rank)
    if not job.record:
        return places.outermost(fn, args, kwargs)
    with Recorder(rank, began, journal, residency) as recorder:
        if keep:
            keep(recorder)
        return places.outermost(fn, args, kwargs)
