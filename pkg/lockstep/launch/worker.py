"""What one rank does: join the group, run the learner's function under the Recorder, send back what became of it.

parent → rank   Task                     what to do, as which rank
rank → parent   ("ready", thread id)     the group is there
parent → rank   ("go", time)             time.monotonic() at which the run begins, alike for all
rank → parent   ("print", text, cut)     any number of these
rank → parent   ("ended", Returned, Raised or Unavailable)
parent → rank   ("leave",)               a rank that left earlier would break its peers' connections
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
from multiprocessing.connection import Connection
from typing import Any

from torch.distributed import FileStore  # type: ignore[attr-defined]

from lockstep.events import Memory
from lockstep.launch import group, values
from lockstep.launch.diagnosis import journal_of
from lockstep.launch.ending import Raised, Unavailable
from lockstep.launch.job import INSIDE, Job, seed_rank
from lockstep.launch.prints import Prints
from lockstep.record import Recorder
from lockstep.residency import Residency


@dataclass(frozen=True)
class Task:
    job: Job
    rank: int
    directory: str  # where the ranks meet, and where each keeps its journal


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
    prints = Prints(lambda text, cut: tell("print", text, cut), task.job.output_limit)
    try:
        enter(task)
    except Exception as error:
        tell("ended", Unavailable(str(error).partition("\n")[0] or type(error).__name__))
        return
    tell("ready", threading.main_thread().ident)
    _, began = conn.recv()
    sys.stdout = sys.stderr = prints
    me = os.getpid()
    outcome = live(task, began, lambda reason: tell("ended", Unavailable(reason)))
    if os.getpid() != me:  # a process that the function has forked, and that came back as if it were the rank
        os._exit(0)
    prints.flush()
    tell("ended", outcome)
    conn.recv()
    group.leave()


def enter(task: Task) -> None:
    """Become the rank: its environment, its place in the group."""
    job, rank = task.job, str(task.rank)
    os.environ.update({INSIDE: "processes", "RANK": rank, "LOCAL_RANK": rank, "GROUP_RANK": "0"})
    os.environ.update(WORLD_SIZE=str(job.ranks), LOCAL_WORLD_SIZE=str(job.ranks))
    group.use_loopback()
    job.sources.install()
    warnings.filterwarnings("ignore", module=r"torch\.")
    store = FileStore(os.path.join(task.directory, "store"), job.ranks)
    group.join(task.rank, job.ranks, job.timeout + 60, store)


class Journal:
    """The rank's journal. Without one nobody could say what the rank did: when there is no room for it, the run ends
    (``give_up``), and the function is not blamed."""

    def __init__(self, path: str, give_up: Callable[[str], None]) -> None:
        self._file, self._give_up = open(path, "ab", buffering=0), give_up  # noqa: SIM115

    def write(self, entry: bytes) -> None:
        try:
            if self._file.write(entry) == len(entry):
                return
            reason = "No space left on device"
        except OSError as error:
            reason = error.strerror or str(error)
        self._give_up(f"there is no room for its journal in {os.path.dirname(self._file.name)} ({reason})")
        threading.Event().wait()


def live(task: Task, began: float, give_up: Callable[[str], None]) -> Returned | Raised:
    """Run the function. Whatever it raises, even SystemExit, is the answer then."""
    residency = Residency(lambda: time.monotonic() - began)
    journal = Journal(journal_of(task.directory, task.rank), give_up)
    try:
        value = carry_out(task.job, task.rank, began, residency, journal.write)
        ended = time.monotonic() - began
        return Returned(values.dumps(value), ended, residency.memory())
    except BaseException as error:
        return Raised.of(error)


def carry_out(
    job: Job,
    rank: int,
    began: float,
    residency: Residency,
    journal: Callable[[bytes], object] | None = None,
    keep: Callable[[Recorder], object] | None = None,
) -> Any:
    """The function's value on this rank. Also what a rank under a launcher does; ``keep`` gets its Recorder."""
    fn, args, kwargs = job.unpack()
    import_main(fn)
    residency.adopt((fn, args, kwargs))
    seed_rank(job.seed, rank)
    if not job.record:
        return fn(*args, **kwargs)
    with Recorder(rank, began, journal, residency) as recorder:
        if keep:
            keep(recorder)
        return fn(*args, **kwargs)


def import_main(fn: Any) -> None:
    """Classes of the learner's notebook live in ``__main__``: object collectives, which pickle by name, look there."""
    names = getattr(fn, "__globals__", {})
    main_module = sys.modules.get("__main__")
    if isinstance(main_module, types.ModuleType) and getattr(fn, "__module__", "") == "__main__":
        for name, value in names.items():
            if isinstance(value, type) and value.__module__ == "__main__":
                vars(main_module).setdefault(name, value)
