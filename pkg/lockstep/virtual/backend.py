"""torch.distributed in the process that is the virtual cluster: every process group is a VirtualGroup.

A learner's program runs unchanged, whichever backend it names: ``init_process_group`` and ``new_group`` make virtual
groups for "gloo", "nccl" and all others, and no rank looks for another one over the network.

What it rests on (private API of torch, for 2.13 to 2.15, all of it in this file, group.py, work.py, movement.py,
clock.py, streams.py, shared_torch.py, profilers.py and fake_torch.py):
  thread isolation   the C++ registry of process groups is kept per thread: ``_set_thread_isolation_mode``
  a world per thread ``distributed_c10d._world`` holds the Python side of that registry
  a Python group     a ``ProcessGroup`` subclass is used as it is, without a C++ backend under it
  one way in         all groups are made by ``distributed_c10d._new_process_group_helper``

What torch's own wrappers show: DDP's all-reduces run beside its backward pass, in virtual time as on processes. On
CPU tensors ``fully_shard``, DTensor and the pipeline schedules wait for each operation at once, here and on processes:
values, bytes and memory are exact, but their traces show no overlap.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _set_thread_isolation_mode  # type: ignore[attr-defined]
from torch.distributed import distributed_c10d
from torch.distributed.distributed_c10d import PrefixStore

from lockstep import deadlock_report, places
from lockstep.errors import RankState, UsageError
from lockstep.launch.adoption import Adoption, Given, called
from lockstep.virtual import futures, modules, profilers
from lockstep.virtual.clock import Clock
from lockstep.virtual.process_group import VirtualGroup
from lockstep.virtual.protocol import Simulator
from lockstep.virtual.shared_store import RankStore
from lockstep.virtual.shared_torch import count_loss_parallel, hide_from_compiler

LONG = timedelta(days=30)  # a rank that waits in vain is told at once, whatever a program asks

_local = threading.local()


class ThreadWorld(threading.local):
    """Python's registry of process groups (``distributed_c10d._world``), one for each thread."""

    def __init__(self) -> None:
        self.default_pg: Any = None
        self.group_count = self.times_entered = 0
        for name in ("pg_map", "pg_names", "pg_group_ranks", "pg_backend_config", "tags_to_pg", "pg_to_tag"):
            setattr(self, name, {})
        self.pg_flight_recorder_hooks: dict[Any, Any] = {}
        self.pg_coalesce_state: dict[Any, Any] = {}
        self.comms: list[Any] = []

    @property
    def pg_config_info(self) -> list[dict[str, Any]]:
        return [{"pg_name": name, "ranks": sorted(self.pg_group_ranks[pg])} for pg, name in self.pg_names.items()]


def create_group(options: Any, _: Any) -> VirtualGroup:
    simulation: Simulator = _local.simulation
    ranks = list(options.global_ranks_in_group) or list(range(simulation.ranks))
    return VirtualGroup(simulation, _local.rank, ranks, str(options.group_id))


class Agreement:
    """What ranks have said of each group: those of one name must be the same, or have no rank in common."""

    def __init__(self) -> None:
        self._said: dict[tuple[int, str], dict[tuple[int, ...], RankState]] = {}  # by name and ranks: who said it first

    def __call__(self, _: Any, name: str, ranks: Sequence[int]) -> None:
        if not hasattr(_local, "rank"):
            remedy = "Make it in the rank's own thread."
            raise UsageError("A thread that a rank has started makes a process group.", remedy)
        world: Any = distributed_c10d._world
        if not ranks:
            world.times_entered += 1  # from here on names begin anew
            return
        of_one_name = self._said.setdefault((world.times_entered, name), {})
        if tuple(ranks) in of_one_name:
            return
        mine = called(_local.rank, ranks, places.here())
        if other := next((said for those, said in of_one_name.items() if not set(those).isdisjoint(ranks)), None):
            raise deadlock_report.different_groups(other, mine)
        of_one_name[tuple(ranks)] = mine


def tcp_store(host_name: str, port: int, *_: Any, **__: Any) -> Any:
    """The store that a program opens at an address: the ranks have one. torch's waits in C++ for ranks that would never
    get the baton."""
    return PrefixStore(f"{host_name}:{port}", _local.store)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """A barrier: a rank that does not come is always named here. torch has one for gloo alone."""
    if dist.get_backend(group) != dist.Backend.GLOO:
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    dist.barrier(group)


def in_batches(post: Callable[..., Any]) -> Callable[..., Any]:
    """``batch_isend_irecv``: what it posts bears one number, for rules that care (NCCL's)."""

    @functools.wraps(post)
    def posting(p2p_op_list: list[Any]) -> Any:  # torch's name: it may be given by it
        if not hasattr(_local, "rank"):  # a thread that a rank has started: its first operation is refused
            return post(p2p_op_list)
        simulation: Simulator = _local.simulation
        with simulation.batch(_local.rank):
            return post(p2p_op_list)

    return posting


def no_recorder(*_: Any) -> None:
    """torch's flight recorder is for messages between C++ backends; the Trace has ours."""


def install() -> None:
    """Turn this process into the virtual cluster's: call it once, before any thread uses torch.distributed."""
    setattr(distributed_c10d, "_world", ThreadWorld())  # noqa: B010
    if "VIRTUAL" not in dist.Backend._plugins:
        dist.Backend.register_backend("virtual", create_group, extended_api=True, devices=["cpu"])
    Adoption(lambda: getattr(_local, "given", None), lambda _: "virtual", Agreement()).__enter__()
    for module in (distributed_c10d, dist):
        setattr(module, "TCPStore", tcp_store)  # noqa: B010
    if hasattr(distributed_c10d, "_maybe_attach_flight_recorder"):  # 2.15: looks for a C++ backend under each group
        setattr(distributed_c10d, "_maybe_attach_flight_recorder", no_recorder)  # noqa: B010
    batches = in_batches(dist.batch_isend_irecv)
    for module in (distributed_c10d, dist):
        setattr(module, "monitored_barrier", monitored_barrier)  # noqa: B010
        setattr(module, "batch_isend_irecv", batches)  # noqa: B010
    futures.install()
    profilers.install()
    count_loss_parallel()
    hide_from_compiler(Clock.__torch_dispatch__)
    torch.autograd.set_multithreading_enabled(False)


def enter(simulation: Simulator, rank: int) -> None:
    """Make the calling thread a rank: it gets a default process group of its own."""
    modules.forget_classes()
    _set_thread_isolation_mode(True)
    torch.autograd.set_multithreading_enabled(False)
    _local.simulation, _local.rank = simulation, rank
    _local.store = RankStore(simulation, rank)  # C++ keeps its own half only
    dist.init_process_group("gloo", rank=rank, world_size=simulation.ranks, store=_local.store)
    _local.given = Given(rank, simulation.ranks, lambda: _local.store, LONG)
