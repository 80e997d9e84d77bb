"""Rallies are judged by each rank's own clock."""

from __future__ import annotations

from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.checks.rallies import rallies, unplayed
from lockstep.events import Event, Trace

PAIR = Case(2, 0)


def message(source: int, left: float, came: float, asked: float, arrived: float) -> list[Event]:
    """The send as its rank sees it, and the recv as the other one does."""
    return [Event(source, "send", left, came, 8, 1 - source), Event(1 - source, "recv", asked, arrived, 8, source)]


def seen(*messages: list[Event]) -> Seen:
    return Seen(PAIR, trace=Trace.of([event for m in messages for event in m], 2))


def said(run: Seen, repeats: int) -> str:
    fault = unplayed(run, 8, repeats)
    return fault.misconception if fault else ""


def test_the_clocks_of_two_ranks_need_not_agree() -> None:
    rally = message(0, 0, 1, 100, 101), message(1, 101, 102, 1, 2)
    assert said(seen(*rally), 1) == ""
    assert [r.seconds for r in rallies(seen(*rally))] == [2]


def test_a_pong_that_leaves_before_the_ping_is_there_is_no_answer() -> None:
    assert said(seen(message(0, 0, 1, 0, 1), message(1, 0.5, 1, 0, 1)), 1) == "both-at-once"


def test_a_ping_that_leaves_before_the_last_pong_is_back_makes_a_pipeline() -> None:
    first = message(0, 0, 1, 0, 1), message(1, 1, 2, 1, 2)
    second = message(0, 1, 2, 1, 2), message(1, 2, 3, 2, 3)
    assert said(seen(*first, *second), 2) == "pipelined"


def test_one_rally_more_warms_up_and_two_do_not() -> None:
    several = [m for t in (0, 2, 4) for m in (message(0, t, t + 1, t, t + 1), message(1, t + 1, t + 2, t + 1, t + 2))]
    assert said(seen(*several), 3) == said(seen(*several), 2) == ""
    assert said(seen(*several), 1) == "ignores-repeats"
