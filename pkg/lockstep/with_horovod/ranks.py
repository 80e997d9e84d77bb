"""Ranks of ``lockstep.run`` that are ranks of Horovod, too: no ``horovodrun``, no new processes, under a second.

Horovod's ranks find each other by a small web server, the rendezvous. ``horovodrun`` starts one beside the ranks; here
rank 0 has it in a thread. Whatever else Horovod needs to know stands in the environment (HOROVOD_RANK and so on).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch.distributed as dist

from lockstep.events import Outcome
from lockstep.launch import server
from lockstep.with_horovod.available import MODULES, require
from lockstep.with_horovod.timeline import Timeline, read
from lockstep.worlds import run

LOOPBACK = "127.0.0.1"
VARIABLE = "HOROVOD_"


@dataclass(frozen=True, repr=False)
class HorovodRun(Outcome):
    """What every rank returned (``values``, by rank), and what Horovod wrote down (``timeline``; empty if not asked)."""

    timeline: Timeline = field(default_factory=list)


@dataclass
class Session:
    """A rank's time in Horovod. ``timeline`` is there when it is over, on rank 0."""

    timeline: Timeline = field(default_factory=list)


def run_horovod(
    fn: Callable[..., Any],
    *args: Any,
    ranks: int,
    timeline: bool = False,
    settings: Mapping[str, object] | None = None,
    timeout: float = 60.0,
) -> HorovodRun:
    """Run ``fn(*args)`` on each of ``ranks`` ranks of Horovod, which has been initialised there and is shut down
    afterwards.

    settings: Horovod's own, by their names in its documentation: {"HOROVOD_CYCLE_TIME": 5, "HOROVOD_FUSION_THRESHOLD": 0}.

    Raises WorldUnavailable where Horovod is missing, and what ``lockstep.run`` raises.
    """
    require()
    server.warm_up(MODULES)
    outcome = run(_in_horovod, fn, args, timeline, dict(settings or {}), ranks=ranks, on="processes", timeout=timeout)
    events = outcome.values[0][1]
    given = {name: getattr(outcome, name) for name in Outcome.__dataclass_fields__}
    return HorovodRun(**{**given, "values": [value for value, _ in outcome.values]}, timeline=events)


def _in_horovod(
    fn: Callable[..., Any], args: tuple[Any, ...], timeline: bool, settings: Mapping[str, object]
) -> tuple[Any, Timeline]:
    with joined(timeline, settings) as session:
        value = fn(*args)
    return value, session.timeline


@contextmanager
def joined(timeline: bool = False, settings: Mapping[str, object] | None = None) -> Iterator[Session]:
    """Within, this rank of ``torch.distributed`` is the same rank of Horovod. All ranks enter and leave it. Under
    ``horovodrun`` they are ranks of Horovod already, and its own environment counts."""
    import horovod.torch as hvd

    session = Session()
    with ExitStack() as undo:
        folder = Path(undo.enter_context(tempfile.TemporaryDirectory()))
        undo.enter_context(_environment(settings or {}, folder / "timeline.json" if timeline else None))
        hvd.init()
        try:
            yield session
        finally:
            hvd.shutdown()
        if timeline and dist.get_rank() == 0:
            session.timeline = read(folder / "timeline.json")


@contextmanager
def _environment(settings: Mapping[str, object], timeline: Path | None) -> Iterator[None]:
    """What Horovod reads when it is initialised; the environment is as before afterwards."""
    before = dict(os.environ)
    with ExitStack() as undo:
        if f"{VARIABLE}RANK" not in os.environ:
            os.environ.update(place(undo))
        os.environ.update({name: str(value) for name, value in settings.items()})
        if timeline:
            os.environ["HOROVOD_TIMELINE"] = str(timeline)
        try:
            yield
        finally:
            for name in [n for n in os.environ if n.startswith(VARIABLE)]:
                del os.environ[name]
            os.environ.update({n: v for n, v in before.items() if n.startswith(VARIABLE)})


def place(undo: ExitStack) -> dict[str, str]:
    """This rank's place in Horovod, by its place in ``torch.distributed``; on rank 0 with the rendezvous."""
    from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
    from horovod.runner.http.http_server import RendezvousServer

    rank, size = dist.get_rank(), dist.get_world_size()
    port: list[Any] = [None]
    if rank == 0:
        rendezvous = RendezvousServer(0)
        port = [rendezvous.start()]
        undo.callback(rendezvous.stop)
        rendezvous.init(get_host_assignments(parse_hosts(f"localhost:{size}"), size))
    dist.broadcast_object_list(port, src=0)
    return {
        "HOROVOD_RANK": str(rank),
        "HOROVOD_SIZE": str(size),
        "HOROVOD_LOCAL_RANK": str(rank),
        "HOROVOD_LOCAL_SIZE": str(size),
        "HOROVOD_CROSS_RANK": "0",
        "HOROVOD_CROSS_SIZE": "1",
        "HOROVOD_HOSTNAME": "localhost",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": LOOPBACK,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port[0]),
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_IFACE": "lo",
    }
