"""A program's own call of ``init_process_group``, in a rank whose default group exists already.

Lockstep creates the default group before a function begins; a program that was written for a launcher creates it
itself. So that such a program runs unchanged, its first call adopts the existing group, whatever backend, address,
store or timeout it names (``Adoption``). After ``destroy_process_group`` the next call creates a new group of the same
ranks, with its own timeout.

``get_backend()`` returns what was asked for: "nccl" after ``init_process_group("nccl")``, even if another backend is
used because there is no GPU. Object collectives, DDP, FSDP and meshes query the group's devices, not its name, and so
work correctly.

Private API of torch, for 2.11 to 2.15: ``_new_process_group_helper`` creates every group, and ``_world`` has their
names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch.distributed import c10d_logger, distributed_c10d
from torch.distributed.distributed_c10d import Store

from lockstep import deadlock_report, places
from lockstep.errors import RankState, UsageError
from lockstep.places import Place

DESTROYED = 8  # process groups that are kept a while after the program has destroyed them
_groups: list[Any] = []  # all that were made, in order

NEED_DEVICES = {"nccl", "ucc", "xccl", "mpi"}  # backends that need GPUs, or a torch that was built for them


@dataclass
class Given:
    """A rank's membership in the default group that Lockstep has created."""

    rank: int
    ranks: int
    store: Callable[[], Store]  # creates a store for the rendezvous of another group, once this one is destroyed
    timeout: timedelta
    asked: bool = False  # whether the program has called init_process_group
    process: int = field(default_factory=os.getpid)


class Adoption:
    """A context in which ``init_process_group`` adopts the existing group.

    given: returns the calling rank's membership, or None for a thread that is no rank.
    carrier: the backend to be used for a requested one.
    agree: ``agree(store, name, ranks)`` raises Mismatch if another rank has created another group of that name;
        ``ranks`` is empty for the default group.
    threaded: whether groups have threads of their own, as gloo's do (see ``keep``)."""

    def __init__(
        self,
        given: Callable[[], Given | None],
        carrier: Callable[[str], str],
        agree: Callable[[Any, str, Sequence[int]], None],
        threaded: bool = False,
    ) -> None:
        self._given, self._carrier, self._agree, self._threaded = given, carrier, agree, threaded

    def __enter__(self) -> Adoption:
        self._cell = cell_of_init()
        self._init = self._cell.cell_contents
        self._cell.cell_contents = self._adopt
        self._helper = distributed_c10d._new_process_group_helper
        self._log = c10d_logger._get_msg_dict
        if self._threaded and dist.is_initialized():
            keep(dist.group.WORLD)
        setattr(distributed_c10d, "_new_process_group_helper", self._make)  # noqa: B010
        if not dist.is_nccl_available():  # torch queries NCCL's version when a call on an "nccl" group fails
            setattr(c10d_logger, "_get_msg_dict", lambda *_, **__: {})  # noqa: B010
        return self

    def __exit__(self, *error: Any) -> None:
        self._cell.cell_contents = self._init
        setattr(distributed_c10d, "_new_process_group_helper", self._helper)  # noqa: B010
        setattr(c10d_logger, "_get_msg_dict", self._log)  # noqa: B010

    def _adopt(
        self,
        backend: str | None = None,
        init_method: str | None = None,
        timeout: timedelta | None = None,
        world_size: int = -1,
        rank: int = -1,
        *args: Any,
        **more: Any,
    ) -> None:
        """``init_process_group``, whose arguments are ignored except ``backend``. Raises UsageError if ``rank`` or
        ``world_size`` differ from the rank's or in a process that is none, and torch's own error for a second call."""
        given = self._given()
        if given is None or (dist.is_initialized() and given.asked):
            self._init(backend, init_method, timeout, world_size, rank, *args, **more)
            return
        check_backend(backend)
        check_process(given)
        check_place(given, rank, world_size)
        if not dist.is_initialized():
            place: dict[str, Any] = {"rank": given.rank, "world_size": given.ranks, "store": given.store()}
            self._init(backend, timeout=timeout or given.timeout, **place)
        elif backend:
            call(dist.group.WORLD, backend)
        given.asked = True

    def _make(
        self, size: int, rank: int, ranks: list[int], backend: str, store: Any, name: Any, *args: Any, **more: Any
    ) -> Any:
        """torch's ``_new_process_group_helper``."""
        self._agree(store, name, ranks)
        carrier = dist.Backend(self._carrier(backend))
        made, store_of_it = self._helper(size, rank, ranks, carrier, store, name, *args, **more)
        if store_of_it is not None:
            call(made, backend)
            if self._threaded:
                keep(made)
        return made, store_of_it


def keep(group: Any) -> None:
    """Reference a group until DESTROYED younger ones are destroyed, too.

    gloo's destructor waits for its threads. If Python runs it (the program's last reference was its DDP model, say), it
    waits with Python's lock held, and a thread that still has a tensor of the last operation to release waits for that
    lock: the process hangs for ever (torch 2.13). Some operations later all such threads are idle."""
    alive = distributed_c10d._world.pg_map
    if group not in _groups:  # under a launcher, each run comes with the same default group
        _groups.append(group)
    destroyed = [one for one in _groups if one not in alive and one is not group]
    for one in destroyed[:-DESTROYED]:
        _groups.remove(one)


def is_everybodys(name: str) -> bool:
    """Whether all ranks must make the group of this name. torch numbers such groups, and takes the n-th of one rank for
    the n-th of every other. With ``use_local_synchronization=True`` a group has a hash of its ranks for a name."""
    return name.isdigit()


def are_alike(some: Sequence[int], others: Sequence[int]) -> bool:
    """Whether two ranks may name these as the members of one group: the same ones, or each only itself, since a group
    of one rank meets nobody."""
    return list(some) == list(others) or len(some) == len(others) == 1


def agree(rank: int, store: Any, name: str, ranks: Sequence[int]) -> None:
    """Publish the ranks of this rank's group ``name`` in ``store``, or compare them with those that another rank has
    published. Raises Mismatch if they differ, even if they have no rank in common: ranks of both groups would find each
    other under the one name, and add up the wrong tensors (pytorch#130102)."""
    if not ranks or not is_everybodys(name):
        return
    place = places.here()
    told = json.dumps([list(ranks), rank, *place[:4]])
    said, first, *where = json.loads(store.compare_set(f"group {name}", "", told))
    if not are_alike(said, ranks):
        raise deadlock_report.different_groups(called(first, said, Place(*where)), called(rank, ranks, place))


def called(rank: int, ranks: Sequence[int], place: Place) -> RankState:
    return RankState(rank, "computing", f"new_group({list(ranks)})", str(place), place.source, did="called")


def cell_of_init() -> Any:
    """The closure cell in which torch's logging wrapper holds ``init_process_group``. Replacing its content affects all
    modules that have imported the function."""
    function: Any = dist.init_process_group
    return next(cell for cell in function.__closure__ if cell.cell_contents is function.__wrapped__)


def on_cpus(asked: str) -> str:
    """The backend to be used without GPUs, in place of ``asked``."""
    return "gloo" if NEED_DEVICES & parts(asked) else asked


def parts(asked: str) -> set[str]:
    """ "gloo" and "nccl" of "cpu:gloo,cuda:nccl"."""
    return {part.rpartition(":")[2] for part in asked.lower().split(",")}


def call(group: Any, backend: str) -> None:
    """Let torch's ``get_backend`` return ``backend`` for the group."""
    names = distributed_c10d._world.pg_map
    names[group] = dist.Backend(backend), names[group][1]


def check_backend(backend: str | None) -> None:
    known = set(dist.Backend.backend_list)
    if backend and not parts(backend) <= known:
        others = ", ".join(sorted(known - {"undefined", "fake", "virtual"}))
        raise UsageError(f"init_process_group: there is no backend {backend!r}.", f"There are {others}.")


def check_process(given: Given) -> None:
    """Raise UsageError in a process that a rank has forked, which holds copies of all that the rank has."""
    if os.getpid() != given.process:
        raise UsageError(
            f"init_process_group: rank {given.rank} has started this process, which is no rank of the run.",
            "Leave it to the run to start ranks. (A script may call mp.spawn, whose processes are the ranks then.)",
        )


def check_place(given: Given, rank: int, world_size: int) -> None:
    if rank not in (-1, given.rank) or world_size not in (-1, given.ranks):
        told = ", ".join(f"{k}={v}" for k, v in {"rank": rank, "world_size": world_size}.items() if v != -1)
        raise UsageError(
            f"init_process_group was told {told}, but this is rank {given.rank} of {given.ranks}.",
            'Leave both out, or take them from os.environ["RANK"] and os.environ["WORLD_SIZE"].',
        )
