"""Every rank under a launcher comes to the same verdict, whatever befalls one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch.distributed as dist
from torch.distributed import HashStore

from lockstep.errors import WorldUnavailable
from lockstep.launch import joining
from lockstep.launch.job import Job
from lockstep.launchers import spmd
from lockstep.launchers.detection import Environment
from lockstep.launchers.outcomes import Exchange
from lockstep.launchers.spmd_rank import Part


class Member:
    def leave(self) -> None: ...

    def hang_up(self) -> None: ...


def place(rank: int) -> Environment:
    return Environment("srun", rank, 2, rank, 2, "9-0")


def part(store: Any, rank: int, limit: float = 60.0) -> Part:
    return Part(Job.pack(len, ((),), {}, 2), place(rank), Exchange(store, place(rank), limit), Member())


def on_two_ranks(do: Callable[[int], Any]) -> list[Any]:
    """What ``do`` returns or raises on each of two ranks, which are threads here."""

    def one(rank: int) -> Any:
        try:
            return do(rank)
        except WorldUnavailable as error:
            return error.message

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(one, range(2)))


def test_values_that_one_rank_lacks_no_rank_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others went on with theirs, and one of a job that failed said "Right"."""
    me, store = threading.local(), HashStore()

    def gathered(mine: bytes) -> list[bytes]:
        if me.rank == 1:
            raise RuntimeError("Connection reset by peer")
        return [mine, mine]

    def gather(rank: int) -> Any:
        me.rank = rank
        return part(store, rank)._all_values()

    monkeypatch.setattr(joining, "gathered", gathered)
    told = "The ranks could not exchange their values: Connection reset by peer."
    assert on_two_ranks(gather) == [told, told]


def test_a_rank_that_does_not_come_is_no_fault_of_the_function() -> None:
    """It counted as stuck, and the learner's answer as wrong, though nothing of it had run."""
    with pytest.raises(WorldUnavailable, match="Rank 1 did not come to this run"):
        part(HashStore(), 0, limit=0.1).outcome()


def test_a_store_that_is_gone_is_no_fault_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = part(HashStore(), 1)

    def gone(what: str) -> list[Any]:
        raise dist.DistNetworkError("Connection was likely closed")

    monkeypatch.setattr(mine.exchange, "hear", gone)
    with pytest.raises(WorldUnavailable, match="Rank 0 cannot be asked any more"):
        mine.outcome()


def test_a_rank_that_starts_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one joined the group alone, and gave up after the seconds that its first run had."""
    store, order = HashStore(), []

    def start(rank: int) -> None:
        if rank:
            order.append(1)
        spmd.meet(store, place(rank))
        if not rank:
            order.append(0)

    on_two_ranks(start)
    assert order == [1, 0]
    monkeypatch.setattr(spmd, "MEETING", 0.1)
    with pytest.raises(RuntimeError):
        spmd.meet(HashStore(), place(0))


def test_rank_0_which_keeps_the_store_ends_last() -> None:
    """It ended first, and others that still asked how the run had ended could not be told."""
    store, order = HashStore(), []

    def end(rank: int) -> None:
        if rank:
            order.append(1)
        spmd.part_from(store, place(rank))
        if not rank:
            order.append(0)

    on_two_ranks(end)
    assert order == [1, 0]


def test_two_jobs_at_one_server_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ranks took each other for their own: a group of both found the answer right."""
    server = HashStore()
    monkeypatch.setattr(spmd, "rendezvous", lambda *_, **__: iter([(server, 0, 2)]))
    monkeypatch.setattr(spmd.atexit, "register", lambda *_, **__: None)
    jobs = [Environment("srun", 0, 2, 0, 1, f"{job}-0", "127.0.0.1") for job in (7, 8)]
    one, two = map(spmd.meeting_store, jobs)
    one.set("begin-1", "of job 7")
    assert one.check(["begin-1"])
    assert not two.check(["begin-1"])
