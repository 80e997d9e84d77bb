"""Threads, sleep, recursion, warnings, closed files, forks, odd exceptions and values: in both worlds the values are
right or the error is a named one, and the next run is right."""

from __future__ import annotations

import os
import threading
import uuid
from multiprocessing.shared_memory import SharedMemory

import odd_programs as odd
import pytest
import torch

from lockstep import run
from lockstep.errors import LockstepError, RankDied, RankRaised, TimeLimit, UsageError, WorldUnavailable
from lockstep.forking import starter
from lockstep.forking.shared_memory import SEGMENTS

WORLDS = ["processes", "dgx-a100"]


@pytest.fixture(params=WORLDS)
def on(request: pytest.FixtureRequest):
    """The world; at the end a good run in it."""
    yield request.param
    assert run(odd.good, ranks=2, on=request.param).values == [2.0, 2.0]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("program", "value"),
    [
        (odd.starts_threads, ([0, 1, 4, 9], 2.0)),
        (odd.waits_for_a_thread, 2.0),
        (odd.leaves_a_thread_running, 2.0),
        (odd.sleeps, 2.0),
        (odd.deep_recursion, (10_000, 2.0)),
        (odd.warnings_as_errors, 2.0),
        (odd.closes_stdout, 2.0),
        (odd.has_no_stdout, 2.0),
        (odd.forks_and_both_return, 2.0),
        (odd.worker_processes, ([1, 5, 9], 2.0)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_does_not_disturb(program, value, on) -> None:
    assert run(program, ranks=2, on=on).values == [value, value]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("program", "kind", "told"),
    [
        (odd.endless_recursion, RankRaised, "RecursionError: maximum recursion depth exceeded"),
        (odd.a_warning_as_an_error, RankRaised, "UserWarning: mine"),
        (odd.an_exception_that_cannot_be_told, RankRaised, "Shy: (its message cannot be told"),
        (odd.an_endless_message, RankRaised, "more characters ... yyy"),
        (odd.a_value_that_cannot_be_opened, RankRaised, "What rank 1 has returned cannot be opened here: ZeroDivision"),
        (odd.a_value_that_ends_who_opens_it, RankRaised, "What rank 1 has returned cannot be opened here: SystemExit"),
        (odd.exits_with_success, RankRaised, "rank 1 raised SystemExit: 0"),
        (odd.leaves_with_success, RankDied, "rank 1 ended with exit status 0"),
        (odd.nests, RankRaised, "run() was called by a rank of another run()"),
        (odd.interrupts_itself, RankRaised, "raised KeyboardInterrupt"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_is_named(program, kind, told, on) -> None:
    with pytest.raises(kind) as caught:
        run(program, ranks=2, on=on)
    assert told in caught.value.message
    assert len(str(caught.value)) < 20_000


def test_a_large_value_takes_time_and_is_not_stuck(on) -> None:
    """ "Stuck: rank 0 has done no operation for 30 s at ." """
    with pytest.raises(TimeLimit) as caught:
        run(odd.a_value_that_is_pickled_for_long, ranks=1, on=on, timeout=2)
    assert str(caught.value).splitlines()[:2] == [
        "The run did not end within 2 s.",
        "  rank 0 has returned, and its value is being sent back",
    ]


@pytest.mark.skipif(not SEGMENTS.exists(), reason="segments have no folder here")
def test_shared_memory_that_nobody_unlinks_is_unlinked(on) -> None:
    """It stayed until the machine was restarted: Python's tracker, which unlinks it, was killed with its rank."""
    name = f"lockstep-test-{uuid.uuid4().hex}"
    run(odd.leaves_shared_memory, name, "returns", ranks=2, on=on)
    assert not list(SEGMENTS.glob(f"{name}*"))
    with pytest.raises(RankDied):
        run(odd.leaves_shared_memory, name, "killed", ranks=1, on=on)
    assert not list(SEGMENTS.glob(f"{name}*"))


@pytest.mark.skipif(not SEGMENTS.exists(), reason="segments have no folder here")
def test_shared_memory_of_the_notebook_stays(on) -> None:
    ours = SharedMemory(create=True, size=100)
    ours.buf[:4] = b"ours"
    try:
        assert run(odd.attaches, ours.name, ranks=2, on=on).values == [b"ours"] * 2
        assert ours._name.lstrip("/") in os.listdir(SEGMENTS)
    finally:
        ours.close()
        ours.unlink()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("program", "told"),
    [
        (odd.prints_to_stderr, "[rank 1] told\n"),
        (odd.a_thread_raises, "ZeroDivisionError: division by zero"),
        (odd.many_warnings, "UserWarning: careful 7"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_what_goes_to_stderr_is_shown(program, told, on) -> None:
    """On the virtual cluster nobody saw it: a thread of the learner's died without a word."""
    result = run(program, ranks=2, on=on)
    assert result.values == [2.0, 2.0]
    assert told in result.printed
    assert len(result.printed) < 30_000


def test_warnings_of_torch_are_not_the_learners(on) -> None:
    assert run(odd.calls_what_torch_deprecates, ranks=2, on=on).printed == ""


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((1, threading.Lock()), "Argument 2 of the function"),
        (((i for i in range(3)),), "Argument 1 of the function"),
    ],
)
def test_an_argument_that_cannot_be_copied_is_named(arguments, what, on) -> None:
    with pytest.raises(UsageError, match=f"{what} cannot be copied to the ranks: cannot pickle"):
        run(odd.good, *arguments, ranks=2, on=on)


def test_a_function_that_cannot_be_copied_is_named(on) -> None:
    lock = threading.Lock()
    with pytest.raises(UsageError, match="The function cannot be copied to the ranks"):
        run(lambda: lock, ranks=2, on=on)


@pytest.mark.slow
def test_a_value_of_500_megabytes(on) -> None:
    first, second = run(odd.a_large_value, 500, ranks=2, on=on).values
    assert first.numel() == 125_000_000
    assert torch.equal(first[::1_000_003], torch.ones(125))
    assert second is None


def test_all_errors_are_of_one_family() -> None:
    assert all(issubclass(e, LockstepError) for e in (RankDied, RankRaised, UsageError))


def test_a_fault_of_lockstep_is_not_the_learners(on, monkeypatch) -> None:
    """A package that was changed under a running notebook made every rank end with exit status 1, and a check gave no
    points for it."""
    started = starter.started
    monkeypatch.setattr(starter, "started", lambda _, *rest: started("lockstep.launch.rank_process:gone", *rest))
    with pytest.raises(
        WorldUnavailable, match=r"AttributeError: module .lockstep.launch.rank_process. has no attribute"
    ):
        run(odd.good, ranks=2, on=on)
    monkeypatch.undo()
