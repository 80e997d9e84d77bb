"""Who waits for whom: by what ranks tell on their board, without Horovod; and what becomes of real programs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
import waits_cases as cases

from lockstep.errors import Deadlock, RankRaised, RankState, RunError, Stuck
from lockstep.launch.watchdog import Stack, state_of
from lockstep.with_horovod import waits
from lockstep.with_horovod.ranks import run_horovod
from lockstep.with_horovod.waits import Asked, Board, Library, Notice, Watch, asked_for, deadlock, waits_for


def waiting(key: str, asked: tuple[str, ...] | None = None, members: tuple[int, ...] = (0, 1, 2)) -> Notice:
    kind, _, name = key.partition(".")
    return Notice(
        "waiting", key, f"{kind} {name!r}", "here.py, line 1", "x", members, (key,) if asked is None else asked
    )


FINISHED, GOING = Notice("finished"), Notice("going")


def test_ranks_that_wait_for_different_names_are_in_a_deadlock() -> None:
    notices = [waiting("allreduce.a"), waiting("allreduce.b"), waiting("allreduce.a")]
    error = deadlock(notices)
    assert error
    assert error.message == "Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0."
    assert [s.waits_for for s in error.states] == [(1,), (0, 2), (1,)]
    assert str(error.states[1]) == "rank 1 waits in allreduce 'b' at here.py, line 1: x"
    assert "by name" in error.remedy


def test_one_that_goes_on_is_no_deadlock() -> None:
    for other in (GOING, None, Notice("raised"), Notice("left")):
        assert deadlock([waiting("allreduce.a"), other, waiting("allreduce.b")]) is None


def test_what_all_have_asked_for_will_come() -> None:
    """A large tensor takes long: all wait for it, and nobody is to blame."""
    assert deadlock([waiting("allreduce.a")] * 3) is None


def test_what_was_asked_for_without_waiting_counts() -> None:
    """Rank 1 has posted a, and waits for b, which the others have posted, too."""
    both = ("allreduce.a", "allreduce.b")
    assert deadlock([waiting("allreduce.a", both), waiting("allreduce.b", both), waiting("allreduce.a", both)]) is None
    assert waits_for(1, [waiting("allreduce.a"), waiting("allreduce.b", both), FINISHED]) == (0, 2)


def test_a_rank_that_has_ended_is_named() -> None:
    error = deadlock([waiting("allreduce.a"), FINISHED, waiting("allreduce.a")])
    assert error
    assert error.message == "Deadlock: ranks 0 and 2 wait for rank 1, whose function has already returned."
    assert "rank 1 take part" in error.remedy


def test_a_rank_that_has_ended_takes_part_in_what_it_has_asked_for() -> None:
    """It posted a large tensor and returned, and those who waited for it were told of a deadlock."""
    left = Notice("finished", asked=("allreduce.a",))
    assert deadlock([waiting("allreduce.a"), left, waiting("allreduce.a")]) is None
    assert deadlock([waiting("allreduce.b"), left, waiting("allreduce.b")]) is not None


def test_a_rank_in_join_takes_part_in_everything() -> None:
    join = waiting("join")
    assert waits_for(0, [waiting("allreduce.a"), join, FINISHED]) == (2,)
    assert waits_for(1, [waiting("allreduce.a"), join, FINISHED]) == (0, 2)
    assert deadlock([waiting("allreduce.a"), join, join]) is None
    assert deadlock([join, join, FINISHED]) is not None


def test_only_the_ranks_of_a_process_set_are_waited_for() -> None:
    pair = waiting("1:allreduce.x", members=(0, 1))
    error = deadlock([pair, waiting("barrier.0"), waiting("barrier.0")])
    assert error
    assert [s.waits_for for s in error.states] == [(1,), (0,), (0,)]


def test_names_that_horovod_gave_are_another_advice() -> None:
    error = deadlock([waiting("allreduce.noname.1"), waiting("allreduce.noname.2"), waiting("allreduce.noname.1")])
    assert error
    assert "without a name" in error.remedy


class Store:
    """torch's, as far as a board uses it."""

    def __init__(self) -> None:
        self.told: dict[str, bytes] = {}

    def set(self, key: str, value: str) -> None:
        self.told[key] = value.encode()

    def get(self, key: str) -> bytes:
        return self.told[key]

    def check(self, keys: list[str]) -> bool:
        return all(key in self.told for key in keys)


def boards(size: int) -> list[Board]:
    store = Store()
    return [Board(store, "1", rank, size) for rank in range(size)]


def test_a_board_gives_back_what_was_told() -> None:
    first, second = boards(2)
    second.publish(waiting("allreduce.a"))
    assert first.notices()[0] is None
    assert first.notices()[1] == Notice(**{**vars(waiting("allreduce.a")), "changes": 1})


def test_two_who_meet_do_not_wait_for_a_third_for_ever() -> None:
    first, second = boards(2)
    second.tell("end-1", "")
    first.meet("end")
    third = boards(2)[0]
    third.meet("end", limit=0.01)


def test_a_deadlock_is_told_when_nothing_has_changed_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(waits.time, "monotonic", lambda: now[0])
    first, second = boards(2)
    watch = Watch(first)
    mine = waiting("allreduce.a", members=(0, 1))
    second.publish(waiting("allreduce.b", members=(0, 1)))
    watch.look(mine)
    now[0] += waits.CONFIRM * 0.9
    watch.look(mine)
    second.publish(GOING)
    second.publish(waiting("allreduce.c", members=(0, 1)))  # it went on meanwhile
    now[0] += waits.CONFIRM * 0.9
    watch.look(mine)
    now[0] += waits.CONFIRM
    with pytest.raises(Deadlock, match="rank 0 waits for rank 1"):
        watch.look(mine)


class Inner:
    """Horovod's C++ half: operations are done when ``done`` has their handle."""

    def __init__(self) -> None:
        self.done: set[int] = set()
        self.handles = 0
        self.fault: Exception | None = None

    def horovod_torch_allreduce_async_torch_FloatTensor(self, *args: Any) -> int:
        if self.fault:
            raise self.fault
        self.handles += 1
        return self.handles

    def horovod_torch_poll(self, handle: int) -> int:
        return int(handle in self.done)

    def horovod_torch_wait_and_clear(self, handle: int) -> None:
        if self.fault:
            raise self.fault
        assert handle in self.done


def library(inner: Inner, board: Board) -> Library:
    return Library(inner, board, lambda number: range(board.size))


def asks(lib: Library, name: bytes | str) -> int:
    tensor = torch.ones(3)
    return int(lib.horovod_torch_allreduce_async_torch_FloatTensor(tensor, tensor, 1, name, 0, 1.0, 1.0, 0))


def test_a_wait_that_is_short_tells_nothing() -> None:
    inner, (board, _) = Inner(), boards(2)
    lib = library(inner, board)
    handle = asks(lib, b"a")
    inner.done.add(handle)
    lib.horovod_torch_wait_and_clear(handle)
    assert board.notices() == [None, None]


def test_a_wait_that_ends_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    inner, (board, other) = Inner(), boards(2)
    lib = library(inner, board)
    handle = asks(lib, "")
    monkeypatch.setattr(waits, "PATIENCE", 0.0)
    told = []

    def sleep(seconds: float) -> None:
        told.append(other.notices()[0])
        if told[-1]:
            inner.done.add(handle)

    monkeypatch.setattr(waits.time, "sleep", sleep)
    lib.horovod_torch_wait_and_clear(handle)
    assert (told[-1].key, told[-1].operation) == ("allreduce.noname.1", "allreduce 'noname.1'")
    assert told[-1].asked == ("allreduce.noname.1",)
    assert other.notices()[0].state == "going"


def test_what_horovod_lacks_is_lacking() -> None:
    """Horovod asks with hasattr whether it can reduce a tensor of this type."""
    assert not hasattr(library(Inner(), boards(1)[0]), "horovod_torch_allreduce_async_torch_BoolTensor")


def test_a_shutdown_is_told_with_its_cause() -> None:
    inner, (board, other) = Inner(), boards(2)
    lib = library(inner, board)
    inner.fault = RuntimeError("Horovod has been shut down. This was caused by an exception on one of the ranks")
    with pytest.raises(RuntimeError, match="caused by an exception"):
        asks(lib, b"a")
    other.publish(Notice("left", where="x.py, line 3"))
    with pytest.raises(RuntimeError, match=r"shut down: rank 1 has called hvd.shutdown\(\) at x.py, line 3"):
        asks(lib, b"a")


@pytest.mark.parametrize(
    ("kind", "args", "key", "shown", "set_"),
    [
        ("allreduce", (torch.ones(2), None, 1, b"a", 1, 1.0, 1.0, 0), "allreduce.a", "allreduce 'a'", 0),
        ("reducescatter", (torch.ones(2), None, b"a", 1, 3, 1.0, 1.0), "3:reducescatter.a", "reducescatter 'a'", 3),
        ("broadcast", (torch.ones(2), None, 2, b"w", 0), "broadcast.w", "broadcast 'w'", 0),
        ("alltoall", (torch.ones(2), None, None, None, "", 0), "alltoall.", "alltoall ''", 0),
        ("barrier", (4,), "barrier.4", "barrier()", 4),
        ("join", (None, -1), "join", "join()", 0),
    ],
)
def test_what_a_call_asks_for(kind: str, args: tuple[Any, ...], key: str, shown: str, set_: int) -> None:
    asked = asked_for(kind, args)
    assert (asked.key, asked.shown, asked.process_set) == (key, shown, set_)
    assert isinstance(asked, Asked)


def test_where_a_rank_stands_in_horovod_is_told_by_its_stack() -> None:
    """Innermost first: what Lockstep and Horovod do below the learner's line is a wait, and a rank that awaits the
    others in order to leave Horovod is done."""
    packages, mine = os.path.dirname(os.path.dirname(torch.__file__)), ("train.py", 7, "train")
    library = [(f"{packages}/horovod/torch/mpi_ops.py", 1285, f) for f in ("synchronize", "allreduce")]
    in_a_wait = Stack(((waits.__file__, 1, "_wait"), *library, mine))
    assert state_of(0, [], in_a_wait) == RankState(0, "waiting", "allreduce", "train.py, line 7, in train")
    assert state_of(0, [], Stack((mine, *library))).state == "computing"
    assert state_of(0, [], Stack(((waits.__file__, 1, "meet"), (waits.__file__, 2, "leave")))).state == "finished"


# ---- real programs


def error_of(program: Callable[..., Any], ranks: int, **how: Any) -> RunError:
    with pytest.raises(RunError) as raised:
        run_horovod(program, ranks=ranks, **how)
    return raised.value


@pytest.mark.horovod
def test_blocking_operations_in_different_orders_end() -> None:
    """They hung until the end of the time."""
    error = error_of(cases.in_different_orders, 3)
    assert isinstance(error, Deadlock)
    assert [s.operation for s in error.states] == ["allreduce 'a'", "allreduce 'b'", "allreduce 'a'"]
    assert {s.source for s in error.states} == {"hvd.allreduce(torch.ones(3), name=name)"}
    assert all("waits_cases.py" in s.where and "in_different_orders" in s.where for s in error.states)


@pytest.mark.horovod
def test_asynchronous_operations_in_different_orders_run() -> None:
    assert run_horovod(cases.in_different_orders_at_once, ranks=3).values == [[97.0, 98.0], [98.0, 97.0], [97.0, 98.0]]


@pytest.mark.horovod
def test_a_rank_without_a_name_of_its_own() -> None:
    error = error_of(cases.numbered_differently, 2)
    assert isinstance(error, Deadlock)
    assert [s.operation for s in error.states] == ["allreduce 'noname.1'", "allreduce 'noname.2'"]
    assert "give them names" in error.remedy


@pytest.mark.horovod
def test_a_rank_that_returns_is_told_as_such() -> None:
    error = error_of(cases.one_returns, 3)
    assert isinstance(error, Deadlock)
    assert error.message == "Deadlock: ranks 0 and 2 wait for rank 1, whose function has already returned."
    assert [s.state for s in error.states] == ["waiting", "finished", "waiting"]


@pytest.mark.horovod
def test_a_straggler_is_no_deadlock() -> None:
    patience = waits.PATIENCE + waits.CONFIRM + 3 * waits.GLANCE
    began = time.monotonic()
    assert run_horovod(cases.one_is_slow, 2 * patience, ranks=3).values == [3.0, 3.0, 3.0]
    assert time.monotonic() - began > 2 * patience


@pytest.mark.slow
@pytest.mark.horovod
def test_at_the_end_of_the_time_the_one_that_computes_is_blamed() -> None:
    """Rank 0, which waited for it in Horovod, was: Lockstep saw no operation of its own there."""
    error = error_of(cases.one_never_comes, 3, timeout=2)
    assert isinstance(error, Stuck)
    assert error.message.startswith("Stuck: rank 1 has done no operation")
    assert [s.state for s in error.states] == ["waiting", "computing", "finished"]
    assert error.states[0].operation == "allreduce"


@pytest.mark.horovod
def test_the_rank_that_raises_is_the_cause_and_the_others_wait() -> None:
    error = error_of(cases.one_raises, 3)
    assert isinstance(error, RankRaised)
    assert error.message.startswith("rank 1 raised ValueError: no data\n  waits_cases.py, line")
    assert error.exit
    assert error.exit.origin == "learner"
    assert error.states[1].state == "raised"
    assert all("with_horovod" not in line for line in str(error).splitlines())


@pytest.mark.horovod
def test_shapes_that_differ_are_told_by_rank() -> None:
    error = error_of(cases.of_different_shapes, 3)
    assert isinstance(error, RankRaised)
    assert "Mismatched ALLREDUCE tensor shapes" in error.message
    assert "(allreduce 'grad': float32 [3] on ranks 0 and 2, float32 [4] on rank 1.)" in error.message


@pytest.mark.horovod
def test_a_name_that_is_under_way_is_told_with_its_line() -> None:
    error = error_of(cases.one_name_twice, 2)
    assert "same name as another tensor" in error.message
    assert "(allreduce 'x' is under way since waits_cases.py, line" in error.message


@pytest.mark.horovod
@pytest.mark.parametrize(
    "case", [cases.one_shuts_down, cases.one_has_shut_down_long_ago], ids=lambda case: case.__name__
)
def test_a_rank_that_shuts_down_is_named(case: Callable[[], None]) -> None:
    """Also when it has finished since."""
    error = error_of(case, 2)
    assert "rank 0 raised HorovodInternalError: Horovod has been shut down: rank 1 has called hvd.shutdown()" in str(
        error
    )


@pytest.mark.horovod
def test_a_deadlock_of_a_process_set_names_its_ranks() -> None:
    error = error_of(cases.on_a_process_set, 3, settings={"HOROVOD_DYNAMIC_PROCESS_SETS": True})
    assert isinstance(error, Deadlock)
    assert error.states[0].operation == "allreduce 'x' on ranks 0, 1"
    assert [s.waits_for for s in error.states] == [(1,), (0,), (0,)]
