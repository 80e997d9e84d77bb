"""What is made of the journals of a run that takes too long."""

import time

import pytest

from lockstep.comm.operation import Operation
from lockstep.errors import Deadlock, TimeLimit
from lockstep.launch import post_mortem, store
from lockstep.launch.post_mortem import Diagnosis
from lockstep.launch.watchdog import Stack

GROUP = (0, 1)
IN_ALL_REDUCE = Stack((("torch/distributed/distributed_c10d.py", 1, "all_reduce"), ("ring.py", 3, "fn")))


def log_until(rank: int, last: float) -> list[Operation]:
    """All-reduces, one every tenth of a second; the last one has not ended."""
    times = [n / 10 for n in range(int(last * 10))]
    done = [Operation(rank, "all_reduce", t, 4, None, GROUP, "0", end=t + 0.01) for t in times]
    return [*done, Operation(rank, "all_reduce", last, 4, None, GROUP, "0", waiting=True)]


def at_the_limit(monkeypatch: pytest.MonkeyPatch, last: float, takes: float) -> Diagnosis:
    """The time is up, after 2 seconds; reading each journal ``takes`` seconds, in which rank 0 goes on."""

    def read(_: str, rank: int) -> list[Operation]:
        time.sleep(takes)
        return log_until(rank, last + 0.1 * (rank == 0))

    monkeypatch.setattr(post_mortem, "read_journal", read)
    return Diagnosis.of_journals(2, "", time.monotonic() - 2)


def test_a_run_that_goes_on_is_no_deadlock_because_its_journals_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance found it on a busy machine: an endless loop of all-reduces "waited for something that no rank does"."""
    found = at_the_limit(monkeypatch, last=1.95, takes=0.6)
    error = found.of_time_limit({0: IN_ALL_REDUCE, 1: IN_ALL_REDUCE}, {}, 2.0)
    assert type(error) is TimeLimit
    assert all(e.end >= e.start for e in found.trace)


def test_a_run_that_stood_still_for_long_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = at_the_limit(monkeypatch, last=0.2, takes=0.0)
    assert type(found.of_time_limit({0: IN_ALL_REDUCE, 1: IN_ALL_REDUCE}, {}, 2.0)) is Deadlock


def test_who_waits_for_the_store_is_not_said_to_be_in_a_backward_pass():
    stack = Stack(((store.__file__, 5, "wait"), (store.__file__, 9, "get"), ("mine.py", 3, "fn")))
    assert stack.communicates
    assert stack.call == "the store's get"
