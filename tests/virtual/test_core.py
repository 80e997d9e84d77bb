"""The virtual cluster keeps to one core of the host, and looks for another one when others need it, too."""

import os
import sys

import pytest
import torch
from torch.utils.data import DataLoader

from lockstep import run
from lockstep.virtual import core
from lockstep.virtual.core import OneCore, Usage, better_core, usage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process choose its cores")


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


def test_all_ranks_are_on_one_core_and_the_caller_is_not() -> None:
    before = cores()
    assert run(cores, ranks=3, on="virtual").values == [1, 1, 1]
    assert cores() == before


class Cores(torch.utils.data.Dataset[int]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> int:
        return cores()


def test_a_process_that_a_rank_forks_may_use_all_cores() -> None:
    def workers() -> int:
        return int(next(iter(DataLoader(Cores(), num_workers=1))))

    assert run(workers, ranks=1, on="virtual").values == [cores()]


def test_all_threads_move_along(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) == 1:
        pytest.skip("this machine gives one core")
    try:
        one = OneCore()
        (here,) = os.sched_getaffinity(0)
        (there, *_) = allowed - {here}
        monkeypatch.setattr(core, "better_core", lambda *_: there)
        one.look_again()
        assert os.sched_getaffinity(0) == {there}
    finally:
        os.sched_setaffinity(0, allowed)
