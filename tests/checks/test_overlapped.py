"""Whether a transfer is hidden: by time where time is virtual, by the order of the program elsewhere."""

from __future__ import annotations

import pytest

from lockstep.checks.case import Case
from lockstep.checks.measured_overlap import exposed, uncovered
from lockstep.checks.observation import Seen
from lockstep.events import Event, Trace

PAIR = Case(2, 0)


def told(*events: Event, flops: int = 100) -> list[str]:
    seen = Seen(PAIR, trace=Trace.of(events, 2))
    return [fault.misconception for fault in exposed(flops, "the product")(seen)]


def transfer(start: float, end: float, meanwhile: int | None = None, nbytes: int = 8) -> Event:
    return Event(0, "all_reduce", start, end, nbytes, meanwhile=meanwhile)


def product(start: float, end: float) -> Event:
    return Event(0, "compute", start, end, flops=100)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([transfer(0, 4), product(0, 5)], []),
        ([transfer(0, 9), product(1, 2)], []),
        ([transfer(0, 4), transfer(0, 5), product(0, 5)], []),
        ([transfer(0, 4), product(0, 4), transfer(4, 8)], ["little-overlap"]),
        ([transfer(0, 4), product(4, 9)], ["waits-at-once"]),
        ([product(0, 4), transfer(4, 9)], ["starts-too-late"]),
        ([transfer(0, 4), product(2, 9)], ["little-overlap"]),
    ],
)
def test_where_time_is_virtual_most_of_the_shorter_lies_under_the_other(events: list[Event], said: list[str]) -> None:
    assert told(*events) == said


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([transfer(0, 4, 100)], []),
        ([transfer(0, 4, None)], []),  # nobody saw the wait
        ([transfer(0, 4, 0)], ["waits-at-once"]),
        ([transfer(0, 4, 50)], ["little-overlap"]),
        ([transfer(0, 4, 100, 9), transfer(0, 4, 0, 1)], []),
        ([transfer(0, 4, 100, 5), transfer(4, 5, 0, 5)], ["little-overlap"]),
    ],
)
def test_on_real_processes_most_bytes_travel_beside_the_product(events: list[Event], said: list[str]) -> None:
    assert told(*events) == said


def told_of_several(*events: Event) -> list[str]:
    seen = Seen(PAIR, trace=Trace.of(events, 2))
    return [fault.misconception for fault in uncovered("the backward pass")(seen)]


def waited(start: float, end: float, wait: float) -> Event:
    return Event(0, "all_reduce", start, end, 8, wait=wait)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([waited(1, 3, 0), waited(2, 4, 0), waited(3, 9, 6), product(1, 2), product(2, 3)], []),
        # one more may come late: its last gradient is the one that ends the pass
        ([waited(1, 3, 0), waited(3, 5, 2), waited(3, 9, 4), product(1, 2), product(2, 3)], []),
        ([waited(1, 3, 0), *[waited(3, 5 + n, 2) for n in range(3)], product(1, 3)], ["starts-too-late"]),
        ([product(0, 1), *[waited(1, 2 + n, 1) for n in range(3)]], ["starts-too-late"]),
        ([waited(1, 2, 1), waited(3, 4, 1), waited(5, 6, 1), product(2, 3), product(4, 5)], ["waits-at-once"]),
        ([waited(1, 2, 1), waited(3, 4, 1), waited(3, 6, 1), product(2, 3)], ["little-overlap"]),
        # a wait for the one before, in the middle of the pass, is no harm
        ([waited(1, 2.5, 0.5), waited(2.5, 4, 0), waited(5, 6, 1), product(1, 2), product(2.5, 5)], []),
    ],
)
def test_of_several_transfers_all_but_two_have_something_beside_them(events: list[Event], said: list[str]) -> None:
    assert told_of_several(*events) == said


def test_on_real_processes_the_flops_before_the_wait_count() -> None:
    assert told_of_several(*[transfer(n, 9, flops) for n, flops in enumerate((200, None, 0, 0))]) == []
    assert told_of_several(*[transfer(n, 9, flops) for n, flops in enumerate((200, 0, 0, 0))]) == ["little-overlap"]
