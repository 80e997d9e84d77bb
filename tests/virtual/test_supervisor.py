"""The virtual cluster keeps to one core of the host, and looks for another one when others need it, too."""

import os
import sys
import threading
import traceback
from collections.abc import Callable, Set

import pytest
import torch
from torch.utils.data import DataLoader

from lockstep import run
from lockstep.this_machine import host
from lockstep.virtual import supervisor
from lockstep.virtual.supervisor import OneCore, Usage, better_core, usage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process choose its cores")
several_cores = pytest.mark.skipif(host.cores().affinity == 1, reason="this machine gives one core")


@pytest.mark.parametrize(
    ("mine", "idle", "chosen"),
    [
        (1.0, {0: 0.0, 1: 1.0}, 0),  # it had the core for itself
        (0.5, {0: 0.0, 1: 0.9}, 1),  # half of the core went to others, and another one was idle
        (0.5, {0: 0.0, 1: 0.0}, 1),  # all are busy: it takes its share of each
        (0.5, {0: 0.0, 1: 0.4, 2: 0.6}, 2),
        (0.5, {0: 0.0}, 0),  # there is no other
    ],
)
def test_a_cluster_that_is_starved_moves_to_the_idlest_core(mine: float, idle: dict[int, float], chosen: int) -> None:
    before = Usage(10.0, 2.0, dict.fromkeys(idle, 100.0))
    now = Usage(11.0, 2.0 + mine, {core: 100.0 + seconds for core, seconds in idle.items()})
    assert better_core(0, before, now) == chosen


def test_idle_time_is_read_for_the_cores_that_may_be_used() -> None:
    allowed = os.sched_getaffinity(0)
    assert usage(allowed).idle.keys() == allowed
    assert usage(set()).idle == {}


def cores() -> int:
    return len(os.sched_getaffinity(0))


@pytest.mark.slow
def test_all_ranks_are_on_one_core_and_the_caller_is_not() -> None:
    before = cores()
    assert run(cores, ranks=3, on="virtual").values == [1, 1, 1]
    assert cores() == before


class Cores(torch.utils.data.Dataset[int]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> int:
        return cores()


def workers() -> int:
    return int(next(iter(DataLoader(Cores(), num_workers=1))))


def test_a_process_that_a_rank_forks_may_use_all_cores() -> None:
    assert run(workers, ranks=1, on="virtual").values == [cores()]


def in_a_fork(act: Callable[[], object]) -> None:
    """OneCore is for a process that is the cluster's alone."""
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def starve(allowed: Set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """At the next look, the cluster moves to another core."""
    monkeypatch.setattr(supervisor, "better_core", lambda mine, *_: min(allowed - {mine}))


@several_cores
def test_all_threads_move_along(monkeypatch: pytest.MonkeyPatch) -> None:
    starve(os.sched_getaffinity(0), monkeypatch)

    def move() -> None:
        one, done, found = OneCore(), threading.Event(), []
        here = os.sched_getaffinity(0)
        thread = threading.Thread(target=lambda: (done.wait(), found.append(os.sched_getaffinity(0))))
        thread.start()
        one.look_again()
        done.set()
        thread.join()
        assert os.sched_getaffinity(0) == found[0] != here

    in_a_fork(move)


@several_cores
def test_a_cluster_that_moves_leaves_the_process_alone_that_has_forked_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    starve(before, monkeypatch)
    in_a_fork(lambda: OneCore().look_again())
    assert os.sched_getaffinity(0) == before


def move(allowed: Set[int]) -> None:
    """In a rank: the cluster is starved, and moves."""
    here = os.sched_getaffinity(0)
    supervisor.better_core = lambda *_: min(allowed - here)  # of this process, that ends with the run
    while os.sched_getaffinity(0) == here:
        pass


@pytest.mark.slow
@several_cores
def test_after_a_cluster_that_moved_the_next_runs_have_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a fork, Python's main thread keeps the number of its parent's (cpython#132542). So the first cluster that had
    to move sent the fork server to one core instead of itself, and there began whatever was forked from then on."""
    run(move, os.sched_getaffinity(0), ranks=1, on="virtual")
    monkeypatch.setenv("FRUIT", "apple")  # another environment than that of spares: these are fresh forks
    assert run(workers, ranks=1, on="virtual").values == [cores()]
    assert run(cores, ranks=2, on="processes").values == [cores()] * 2
