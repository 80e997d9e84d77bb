"""Horovod on the ranks of ``lockstep.run``: no ``horovodrun``, no new processes, started in less than a second.

Horovod's ranks find each other by a small web server, the rendezvous. ``horovodrun`` runs one in a process next to the
ranks; here rank 0 runs it in a thread. All else that Horovod needs is in the environment (HOROVOD_RANK and so on).
"""

from __future__ import annotations

import difflib
import importlib
import os
import platform
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from lockstep.errors import UsageError
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.launch.job import INSIDE, import_main
from lockstep.with_horovod.available import MODULES, require
from lockstep.with_horovod.timeline import Timeline, read
from lockstep.with_horovod.waits import Board, give_up, leave, watched
from lockstep.worlds import check_callable, check_not_nested, check_ranks, choose_world, launched, run

LOOPBACK = "127.0.0.1"
VARIABLE = "HOROVOD_"

# Horovod's settings: environment variables that it reads when it is initialised. Names of 0.28.1, from
# horovod/common/common.h, logging.cc and gloo_context.cc. Horovod ignores a name that it does not know, so that a
# misspelt one would have no effect, silently.
NAMES = tuple(
    f"HOROVOD_{name}"
    for name in (
        "ADASUM_MPI_CHUNK_SIZE", "AUTOTUNE", "AUTOTUNE_BAYES_OPT_MAX_SAMPLES", "AUTOTUNE_GAUSSIAN_PROCESS_NOISE",
        "AUTOTUNE_LOG", "AUTOTUNE_STEPS_PER_SAMPLE", "AUTOTUNE_WARMUP_SAMPLES", "BATCH_D2D_MEMCOPIES", "CACHE_CAPACITY",
        "CCL_CACHE", "CPU_OPERATIONS", "CYCLE_TIME", "DISABLE_GROUP_FUSION", "DISABLE_NVTX_RANGES",
        "DYNAMIC_PROCESS_SETS", "ENABLE_ASYNC_COMPLETION", "ENABLE_XLA_OPS", "FUSION_THRESHOLD", "GLOO_IFACE",
        "GLOO_TIMEOUT_SECONDS", "HIERARCHICAL_ALLGATHER", "HIERARCHICAL_ALLREDUCE", "LOG_HIDE_TIME", "LOG_LEVEL",
        "MPI_THREADS_DISABLE", "NUM_NCCL_STREAMS", "STALL_CHECK_DISABLE", "STALL_CHECK_TIME_SECONDS",
        "STALL_SHUTDOWN_TIME_SECONDS", "THREAD_AFFINITY", "TIMELINE_MARK_CYCLES", "TORUS_ALLREDUCE",
    )
)  # fmt: skip
EXAMPLE = 'Write settings={"HOROVOD_CYCLE_TIME": 5}, with the names of Horovod\'s documentation.'


@dataclass(frozen=True, repr=False)
class HorovodRun(Outcome):
    """What every rank returned (``values``, by rank), and Horovod's own ``timeline``, if it was requested."""

    timeline: Timeline = field(default_factory=list)

    def __repr__(self) -> str:
        noted = f", {len(self.timeline)} events in its timeline" if self.timeline else ""
        return f"HorovodRun({self.trace.ranks} ranks, {self.time:.3g} s{noted})"


@dataclass
class Session:
    """A rank's use of Horovod. ``timeline`` is available when it is over, on rank 0."""

    timeline: Timeline = field(default_factory=list)


def run_horovod(
    fn: Callable[..., Any],
    *args: Any,
    ranks: int | None = None,
    timeline: bool = False,
    settings: Mapping[str, object] | None = None,
    timeout: float = 60.0,
) -> HorovodRun:
    """Run ``fn(*args)`` on each of ``ranks`` ranks of Horovod, which has been initialised there and is shut down
    afterwards: on processes of this machine, or, under a launcher, on the ranks that it has started.

    timeline: whether Horovod writes one.
    settings: Horovod's own, by their names in its documentation: {"HOROVOD_CYCLE_TIME": 5}, in milliseconds.
    timeout: seconds of host time for the whole run.

    Raises WorldUnavailable where Horovod is missing, UsageError for a call that makes no sense, and what
    ``lockstep.run`` raises; Deadlock also for ranks that wait for each other in Horovod.
    """
    program = Program(check_program(fn), bool(timeline), checked(settings))
    check_not_nested()
    world = choose_world(None)
    size = launched(ranks) if world == "spmd" else check_ranks(ranks, world)
    require()
    if world == "processes":
        starter.warm_up(MODULES)
    else:  # it takes seconds, and not the program's
        list(map(importlib.import_module, MODULES))
    outcome = run(program, *args, ranks=size, on=world, timeout=timeout)
    given = {name: getattr(outcome, name) for name in Outcome.__dataclass_fields__}
    if not timeline:
        return HorovodRun(**given)
    values, timelines = zip(*outcome.values, strict=True)
    return HorovodRun(**{**given, "values": list(values)}, timeline=timelines[0])


def check_program(fn: Callable[..., Any]) -> Callable[..., Any]:
    if not callable(fn):
        raise UsageError(
            f"run_horovod needs a function as its first argument, not {type(fn).__name__}.",
            "Write run_horovod(my_function, x, ranks=4): without parentheses after the function's name.",
        )
    check_callable(fn)
    return fn


def checked(settings: object) -> dict[str, str]:
    """The settings as environment variables: True is "1". Raises UsageError for a name or a value that is none of
    Horovod's."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise UsageError(f"settings is a dict of names and values, not {type(settings).__name__}.", EXAMPLE)
    for name, value in settings.items():
        if name == "HOROVOD_TIMELINE":
            raise UsageError("settings: HOROVOD_TIMELINE is set for you.", "Write timeline=True.")
        if name not in NAMES:
            raise UsageError(f"settings: Horovod has no setting {name!r}.", _meant(str(name)))
        if not isinstance(value, (bool, int, float, str)):
            raise UsageError(f"settings: {name} is a number or a text, not {type(value).__name__}.", EXAMPLE)
    return {name: str(int(value) if isinstance(value, bool) else value) for name, value in settings.items()}


def _meant(name: str) -> str:
    short = {n.removeprefix("HOROVOD_"): n for n in NAMES}
    near = difflib.get_close_matches(name.upper().removeprefix("HOROVOD_"), short, 2, 0.7)
    return f"Did you mean {' or '.join(short[n] for n in near)}?" if near else EXAMPLE


@dataclass(frozen=True)
class Program:
    """The program of each rank. It returns the function's value, together with a timeline if one is requested."""

    fn: Callable[..., Any]
    timeline: bool
    settings: Mapping[str, str]

    def __call__(self, *args: Any) -> Any:
        import_main(self.fn)
        with joined(self.timeline, self.settings) as session:
            value = self.fn(*args)
        return (value, session.timeline) if self.timeline else value


@contextmanager
def joined(timeline: bool = False, settings: Mapping[str, object] | None = None) -> Iterator[Session]:
    """Context in which this rank of ``torch.distributed`` is the same rank of Horovod. All ranks enter and leave it.
    Under ``horovodrun`` they are ranks of Horovod already, and its own environment applies.

    Raises Deadlock, from within a call of Horovod, when no rank can proceed."""
    import horovod.torch as hvd

    session, board = Session(), meeting()
    with ExitStack() as undo:
        file = undo.enter_context(_timeline_file()) if timeline else None
        undo.enter_context(_environment(board, checked(settings), file))
        stop = partial(_stop_timeline, timeline)
        hvd.init()
        try:
            with watched(board, stop) as library:
                yield session
                leave(board, library)
        except BaseException:
            if os.environ.get(INSIDE) != "processes":  # those are ended now; a launcher's go on
                give_up(board)
                hvd.shutdown()
            raise
        stop()
        hvd.shutdown()
        if file and board.rank == 0:
            session.timeline = read(file)


def _stop_timeline(timeline: bool) -> None:
    """Stop the timeline, which waits until all is written; shutdown does not, not even where the script itself shuts
    Horovod down."""
    import horovod.torch as hvd

    if timeline and hvd.is_initialized():
        hvd.stop_timeline()


def meeting() -> Board:
    """The board through which the ranks of this job exchange what no operation of theirs should carry."""
    store: Any = distributed_c10d._get_default_store()
    rank, size = dist.get_rank(), dist.get_world_size()
    return Board(store, f"horovod-{store.add(f'horovod-of-{rank}', 1)}", rank, size)


@contextmanager
def _timeline_file() -> Iterator[Path]:
    """A file for the timeline, in memory where possible: nothing is left of it, however the process ends."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("horovod-timeline")
        try:
            yield Path(f"/proc/self/fd/{file}")
        finally:
            os.close(file)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder, "timeline.json")


@contextmanager
def _environment(board: Board, settings: Mapping[str, str], timeline: Path | None) -> Iterator[None]:
    """Context with the variables that Horovod reads when it is initialised; afterwards the environment is as before. A
    rank that is a process of ``run`` may have inherited the place of the ``horovodrun`` rank that has started it."""
    before = {name: value for name, value in os.environ.items() if name.startswith(VARIABLE)}
    with ExitStack() as undo:
        undo.callback(_restore, before)
        if f"{VARIABLE}RANK" not in os.environ or os.environ.get(INSIDE) == "processes":
            os.environ.update(place(board, undo))
        os.environ.update(settings)
        if timeline:
            os.environ["HOROVOD_TIMELINE"] = str(timeline)
        yield


def _restore(before: Mapping[str, str]) -> None:
    for name in [n for n in os.environ if n.startswith(VARIABLE)]:
        del os.environ[name]
    os.environ.update(before)


@dataclass(frozen=True)
class Slot:
    """A rank's place, as Horovod's rendezvous has it: among the ranks of its node, and among the ranks of other nodes
    that have the same place there."""

    hostname: str
    rank: int
    size: int
    local_rank: int
    local_size: int
    cross_rank: int
    cross_size: int


def slots(nodes: Sequence[str]) -> list[Slot]:
    """The place of each rank, given the names of the ranks' nodes; by rank."""
    found = []
    for rank, node in enumerate(nodes):
        local_rank = nodes[:rank].count(node)
        alike = [n for n in dict.fromkeys(nodes) if nodes.count(n) > local_rank]
        local, cross = (local_rank, nodes.count(node)), (alike.index(node), len(alike))
        found.append(Slot(node, rank, len(nodes), *local, *cross))
    return found


def place(board: Board, undo: ExitStack) -> dict[str, str]:
    """The environment variables of this rank's place in Horovod, from its place in ``torch.distributed``; rank 0 also
    starts the rendezvous."""
    board.tell(f"node-{board.rank}", node())
    nodes = [board.hear(f"node-{r}") for r in range(board.size)]
    mine = slots(nodes)[board.rank]
    if board.rank == 0:
        board.tell("port", str(_rendezvous(slots(nodes), undo)))
    together = len(set(nodes)) == 1
    interface = os.environ.get("GLOO_SOCKET_IFNAME", "")
    found = {
        "HOROVOD_RANK": mine.rank,
        "HOROVOD_SIZE": mine.size,
        "HOROVOD_LOCAL_RANK": mine.local_rank,
        "HOROVOD_LOCAL_SIZE": mine.local_size,
        "HOROVOD_CROSS_RANK": mine.cross_rank,
        "HOROVOD_CROSS_SIZE": mine.cross_size,
        "HOROVOD_HOSTNAME": mine.hostname,
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": LOOPBACK if together else os.environ["MASTER_ADDR"],
        "HOROVOD_GLOO_RENDEZVOUS_PORT": board.hear("port"),
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        **({"HOROVOD_GLOO_IFACE": interface} if interface else {}),
    }
    return {name: str(value) for name, value in found.items()}


def node() -> str:
    """A name for this machine, with the launcher's number of it, since two machines may have the same name."""
    return re.sub(r"[^\w.-]", "-", f"{platform.node() or 'node'}-{os.environ.get('GROUP_RANK', '0')}")


def _rendezvous(places: Sequence[Slot], undo: ExitStack) -> int:
    """Start the rendezvous, and return its port."""
    from horovod.runner.http.http_server import RendezvousServer

    rendezvous = RendezvousServer(0)
    port = int(rendezvous.start())
    undo.callback(threading.Thread(target=rendezvous.stop, daemon=True).start)  # it takes half a second
    rendezvous.init(places)
    return port
