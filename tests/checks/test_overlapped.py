"""Whether a transfer is hidden: by time where time is virtual, by the order of the program elsewhere."""

from __future__ import annotations

import pytest

from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.checks.overlap import exposed
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
