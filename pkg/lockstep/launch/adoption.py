"""A program's own ``init_process_group``, in a rank that has its group already.

Lockstep makes the group of all ranks before a function begins. A program that was written for a launcher makes it by
itself. So that it runs unchanged, its first call takes the group that is there, whatever backend, address, store or
timeout it names (``Adoption``). Once it has left the group, the next call makes a new one of the same ranks.

A group is called what was asked for: ``get_backend()`` answers "nccl" after ``init_process_group("nccl")``, also where
another backend carries it because there is no GPU. Object collectives, DDP, FSDP and meshes ask the group for its
devices, not for its name; so they are right.

It knows two of torch's secrets, from 2.11 to 2.15: ``_new_process_group_helper`` makes every group, and ``_world``
keeps what they are called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch.distributed import c10d_logger, distributed_c10d
from torch.distributed.distributed_c10d import PrefixStore, Store

from lockstep import deadlock_report, places
from lockstep.errors import RankState, UsageError
from lockstep.places import Place

NEED_DEVICES = {"nccl", "ucc", "xccl", "mpi"}  # or a torch that was built for them


@dataclass
class Given:
    """A rank's place in the group that it was given."""

    rank: int
    ranks: int
    store: Callable[[], Store]  # a new one, in which the ranks meet again when they have left the group
    timeout: timedelta
    asked: bool = False  # whether its program has asked for the group


class Adoption:
    """Within it, ``init_process_group`` takes the group that is there. ``given``: the calling rank's place, None for a
    thread that is no rank. ``carrier``: the backend that carries what was asked for. ``agree(store, name, ranks)``
    raises Mismatch when other ranks have made another group of that name; ``ranks`` is empty for the group of all."""

    def __init__(
        self,
        given: Callable[[], Given | None],
        carrier: Callable[[str], str],
        agree: Callable[[Any, str, Sequence[int]], None],
    ) -> None:
        self._given, self._carrier, self._agree = given, carrier, agree

    def __enter__(self) -> Adoption:
        self._cell = cell_of_init()
        self._init = self._cell.cell_contents
        self._cell.cell_contents = self._adopt
        self._helper = distributed_c10d._new_process_group_helper
        self._log = c10d_logger._get_msg_dict
        setattr(distributed_c10d, "_new_process_group_helper", self._make)  # noqa: B010
        if not dist.is_nccl_available():  # torch asks NCCL for its version when a call on a group of that name fails
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
        """torch's ``init_process_group``, of which only ``backend`` counts. Raises UsageError for another rank or world
        size than the rank has, and torch's own error when it is called twice."""
        given = self._given()
        if given is None or (dist.is_initialized() and given.asked):
            self._init(backend, init_method, timeout, world_size, rank, *args, **more)
            return
        check_backend(backend)
        check_place(given, rank, world_size)
        if not dist.is_initialized():
            place: dict[str, Any] = {"rank": given.rank, "world_size": given.ranks, "store": given.store()}
            self._init(backend, timeout=given.timeout, **place)
        elif backend:
            call(dist.group.WORLD, backend)
        given.asked = True

    def _make(
        self, size: int, rank: int, ranks: list[int], backend: str, store: Any, name: Any, *args: Any, **more: Any
    ) -> Any:
        """torch's helper that makes groups."""
        self._agree(store, name, ranks)
        meeting = PrefixStore(f"ranks {ranks}", store) if ranks else store
        carrier = dist.Backend(self._carrier(backend))
        made, kept = self._helper(size, rank, ranks, carrier, meeting, name, *args, **more)
        if kept is not None:
            call(made, backend)
        return made, kept


def agree(rank: int, store: Any, name: str, ranks: Sequence[int]) -> None:
    """Tell the other members, in ``store``, which ranks this rank's group ``name`` has, and see what they have said.

    torch numbers the groups that a rank makes, and takes the third of one rank for the third of every other. Ranks
    that have none in common may mean different ones: they meet under the members, too (``Adoption``)."""
    place = places.here()
    told = json.dumps([list(ranks), rank, *place])
    for member in ranks:
        said, first, *where = json.loads(store.compare_set(f"group {name} of rank {member}", "", told))
        if said != list(ranks):
            raise deadlock_report.different_groups(called(first, said, Place(*where)), called(rank, ranks, place))


def called(rank: int, ranks: Sequence[int], place: Place) -> RankState:
    return RankState(rank, "computing", f"new_group({list(ranks)})", str(place), place.source, did="called")


def cell_of_init() -> Any:
    """Where torch's wrapper, which logs, keeps the ``init_process_group`` that it calls. What is put there reaches all
    who have imported the function."""
    function: Any = dist.init_process_group
    return next(cell for cell in function.__closure__ if cell.cell_contents is function.__wrapped__)


def on_cpus(asked: str) -> str:
    """The backend of processes that have no GPUs."""
    return "gloo" if NEED_DEVICES & parts(asked) else asked


def parts(asked: str) -> set[str]:
    """ "gloo" and "nccl" of "cpu:gloo,cuda:nccl"."""
    return {part.rpartition(":")[2] for part in asked.lower().split(",")}


def call(group: Any, backend: str) -> None:
    """Let torch answer that this is the group's backend."""
    names = distributed_c10d._world.pg_map
    names[group] = dist.Backend(backend), names[group][1]


def check_backend(backend: str | None) -> None:
    known = set(dist.Backend.backend_list)
    if backend and not parts(backend) <= known:
        others = ", ".join(sorted(known - {"undefined", "fake", "virtual"}))
        raise UsageError(f"init_process_group: there is no backend {backend!r}.", f"There are {others}.")


def check_place(given: Given, rank: int, world_size: int) -> None:
    if rank not in (-1, given.rank) or world_size not in (-1, given.ranks):
        told = ", ".join(f"{k}={v}" for k, v in {"rank": rank, "world_size": world_size}.items() if v != -1)
        raise UsageError(
            f"init_process_group was told {told}, but this is rank {given.rank} of {given.ranks}.",
            'Leave both out, or take them from os.environ["RANK"] and os.environ["WORLD_SIZE"].',
        )
