"""Rallies are judged by each rank's own clock, and the mean is told from the least and the median."""

from __future__ import annotations

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.observation import Seen
from lockstep.checks.observe import CLUSTER, observe_reference
from lockstep.events import Event, Trace
from lockstep.exercises.communication.ping_pong.exercise import alike, misplayed, one_way, played


def message(source: int, left: float, came: float, asked: float, arrived: float, n: int = 8) -> list[Event]:
    """The send as its rank sees it, and the recv as the other one does."""
    return [Event(source, "send", left, came, n, 1 - source), Event(1 - source, "recv", asked, arrived, n, source)]


def seen(*messages: list[Event], repeats: int = 1) -> Seen:
    case = Case(2, 0, settings={"nbytes": 8, "repeats": repeats})
    return Seen(case, trace=Trace.of([event for m in messages for event in m], 2))


def test_the_clocks_of_two_ranks_need_not_agree() -> None:
    rally = seen(message(0, 0, 1, 100, 101), message(1, 101, 102, 1, 2))
    assert misplayed(rally) == ""
    assert one_way(rally) == 1


def test_a_pong_that_leaves_before_the_ping_is_there_is_no_answer() -> None:
    assert "both travel at the same time" in misplayed(seen(message(0, 0, 1, 0, 1), message(1, 0.5, 1, 0, 1)))


def test_a_ping_that_leaves_before_the_last_pong_is_back_makes_a_pipeline() -> None:
    first = message(0, 0, 1, 0, 1), message(1, 1, 2, 1, 2)
    second = message(0, 1, 2, 1, 2), message(1, 2, 3, 2, 3)
    assert "both travel at the same time" in misplayed(seen(*first, *second, repeats=2))


def test_a_receive_may_be_asked_for_early() -> None:
    assert misplayed(seen(message(0, 0, 1, 0, 1), message(1, 1, 2, 0, 2))) == ""


@pytest.mark.parametrize(("repeats", "right"), [(3, True), (2, True), (1, False), (4, False)])
def test_one_rally_more_warms_up_and_two_do_not(repeats: int, right: bool) -> None:
    several = [m for t in (0, 2, 4) for m in (message(0, t, t + 1, t, t + 1), message(1, t + 1, t + 2, t + 1, t + 2))]
    assert (misplayed(seen(*several, repeats=repeats)) == "") == right


def test_what_warms_up_may_be_of_any_size_and_what_is_measured_may_not() -> None:
    """A warm-up of a single byte was refused, though the text says nothing of its size."""
    short = [message(0, 0, 1, 0, 1, 1), message(1, 1, 2, 1, 2, 1)]
    whole = [message(0, 2, 3, 2, 3), message(1, 3, 4, 3, 4)]
    late = [message(0, 5, 6, 5, 6, 1), message(1, 6, 7, 6, 7, 1)]
    assert misplayed(seen(*short, *whole)) == ""
    assert misplayed(seen(*whole, *late)) == "a message has 1 byte instead of 8"


def test_who_hands_the_mean_round_needs_a_collective() -> None:
    rally = [message(0, 0, 1, 0, 1), message(1, 1, 2, 1, 2)]
    handed = [Event(rank, "broadcast", 3, 4, 8) for rank in (0, 1)]
    assert misplayed(seen(*rally, handed)).startswith("a collective moves something as well")
    assert misplayed(seen(*rally, [Event(rank, "barrier", 3, 4) for rank in (0, 1)])) == ""


def test_two_rallies_too_many_are_not_alike_to_a_single_one() -> None:
    """Who warmed up twice was told: "you send one ping-pong"."""
    case, rallies = Case(2, 0, settings={"nbytes": 8, "repeats": 2}), []
    for t in (0, 2, 4, 6):
        rallies += [*message(0, t, t + 1, t, t + 1), *message(1, t + 1, t + 2, t + 1, t + 2)]
    once, often = (Seen(case, [1.0, 1.0], trace=Trace.of(events, 2)) for events in (rallies[:4], rallies))
    assert alike(once) != alike(often)


def test_no_two_rallies_of_a_check_take_equally_long() -> None:
    """All virtual messages took the same time, and the least or the median passed where the text asks for the mean."""
    for run in observe_reference(find("communication.ping_pong"), CLUSTER):
        if run.case.size > 1:
            pings, pongs = played(run)
            took = {pong.received.end - ping.sent.posted for ping, pong in zip(pings, pongs, strict=True)}
            assert len(took) == len(pings) == run.case.settings["repeats"] + 1
            assert max(took) > 1.1 * min(took)
