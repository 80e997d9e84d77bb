"""torch.distributed in the process that is the virtual cluster: every process group is a VirtualGroup.

A learner's program runs unchanged, whichever backend it names: ``init_process_group`` and ``new_group`` make virtual
groups for "gloo", "nccl" and all others, and no rank looks for another one over the network.

It relies on (private API of torch, for 2.13 to 2.15, all of it in this file, process_group.py, work.py,
checkpoints.py, data_movement.py, clock.py, random_streams.py, torch_process_state.py and fake_torch.py):
  thread isolation   the C++ registry of process groups is kept per thread: ``_set_thread_isolation_mode``
  a world per thread ``distributed_c10d._world`` holds the Python side of that registry
  a Python group     a ``ProcessGroup`` subclass is used as it is, without a C++ backend under it
  one constructor    all groups are made by ``distributed_c10d._new_process_group_helper``
  a Python store     torch's own waits for a key in C++: the rank that is to set it would never get the baton

torch's own wrappers: DDP's all-reduces overlap its backward pass, in virtual time as on processes. On CPU tensors
``fully_shard``, DTensor and the pipeline schedules wait for each operation at once, here and on processes: values,
bytes and memory are exact, but their traces show no overlap.
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
from lockstep.launch.init_process_group import Adoption, Given, are_alike, called, is_everybodys
from lockstep.launch.store import PythonStore
from lockstep.virtual import checkpoints, module_isolation, rank_threads, torch_process_state, work
from lockstep.virtual.clock import Clock
from lockstep.virtual.process_group import VirtualGroup
from lockstep.virtual.simulator_interface import Simulator

FIRST_PAUSE = 1e-6  # virtual seconds
GROWTH = 1.1


class RankStore(PythonStore):
    """The shared store of all ranks, as rank ``me`` uses it. Waiting takes virtual time, in pauses that grow, and so
    does its ``timeout``."""

    def __init__(self, simulation: Simulator, me: int) -> None:
        super().__init__(simulation.store)
        self._simulation, self._me = simulation, me

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        left, pause = self.seconds(timeout), FIRST_PAUSE
        while not self.check(keys):
            if left <= 0:
                raise TimeoutError(f"no rank has left anything in the store under {', '.join(keys)}")
            self._simulation.sleep(self._me, pause)
            left, pause = left - pause, GROWTH * pause


LONG = timedelta(days=30)  # deadlocks are detected at once, whatever timeout a program sets

_local = threading.local()


class ThreadWorld(threading.local):
    """The Python registry of process groups (``distributed_c10d._world``), one per thread."""

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
    entered: int = distributed_c10d._world.times_entered  # type: ignore[attr-defined]
    return VirtualGroup(simulation, _local.rank, ranks, str(options.group_id), options.timeout, entered)


def demand_own_thread(does: str) -> None:
    if not hasattr(_local, "rank"):
        raise UsageError(f"A thread that a rank has started {does}.", "Make it in the rank's own thread.")


class Agreement:
    """Checks that all ranks name the same members for a group of one name, as ``init_process_group.agree`` does."""

    def __init__(self) -> None:
        self._said: dict[tuple[int, str], tuple[list[int], RankState]] = {}  # members, first caller

    def __call__(self, _: Any, name: str, ranks: Sequence[int]) -> None:
        demand_own_thread("makes a process group")
        world: Any = distributed_c10d._world
        if not ranks:
            world.times_entered += 1  # torch numbers groups from 0 again
        if not ranks or not is_everybodys(name):
            return
        key, members = (world.times_entered, name), list(ranks)
        said, first = self._said.get(key, (None, None))
        if said is None or not are_alike(said, members):
            mine = called(_local.rank, members, places.here())
            if first:
                raise deadlock_report.different_groups(first, mine)
            self._said[key] = members, mine


def tcp_store(host_name: str, port: int, *_: Any, **__: Any) -> Any:
    """A program's ``TCPStore(host, port)``: the store that all ranks share, as torch's own would wait in C++ for ranks
    that never get the baton."""
    demand_own_thread("opens a store")
    return PrefixStore(f"{host_name}:{port}", _local.store)


def in_batches(post: Callable[..., Any]) -> Callable[..., Any]:
    """``batch_isend_irecv`` whose operations get one batch number, on which NCCL's rules depend."""

    @functools.wraps(post)
    def posting(p2p_op_list: list[Any]) -> Any:  # torch's name, as a keyword argument
        me = rank_threads.owner()  # also of a thread that the rank has started
        if me is None:
            return post(p2p_op_list)
        with rank_threads.simulation().batch(me):
            return post(p2p_op_list)

    return posting


def no_recorder(*_: Any) -> None:
    """Instead of torch's flight recorder, which needs C++ backends; the Trace has what it would record."""


def install() -> None:
    """Patch torch for a virtual cluster in this process. Call it once, before any thread uses torch.distributed."""
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
        setattr(module, "batch_isend_irecv", batches)  # noqa: B010
    work.install()
    checkpoints.install()
    torch_process_state.share_kineto()
    torch_process_state.count_loss_parallel()
    torch_process_state.name_backend_in_ddps_data()
    torch_process_state.hide_from_compiler(Clock.__torch_dispatch__)
    torch.autograd.set_multithreading_enabled(False)


def enter(simulation: Simulator, rank: int) -> None:
    """Make the calling thread a rank, with its own default process group."""
    module_isolation.forget_classes()
    _set_thread_isolation_mode(True)
    torch.autograd.set_multithreading_enabled(False)
    _local.simulation, _local.rank = simulation, rank
    _local.store = RankStore(simulation, rank)  # C++ keeps its own half only
    dist.init_process_group("gloo", rank=rank, world_size=simulation.ranks, store=_local.store, timeout=LONG)
    _local.given = Given(rank, simulation.ranks, lambda: _local.store, LONG)
