"""Rounds and bytes, on traces laid out by hand."""

from __future__ import annotations

from lockstep.checks.traffic import hub, messages, number_received, rounds, sent
from lockstep.events import Event, Trace


def trace(rows: list[tuple[int, int, float, float]], ranks: int = 4, nbytes: int = 8) -> Trace:
    """Messages as (from, to, start, end)."""
    events = []
    for source, target, start, end in rows:
        events.append(Event(source, "send", start, end, nbytes, target))
        events.append(Event(target, "recv", start, end, nbytes, source))
    return Trace.of(events, ranks)


def test_a_tree_takes_two_rounds_for_four_ranks() -> None:
    tree = trace([(0, 1, 0, 1), (0, 2, 1, 2), (1, 3, 1, 2)])
    assert rounds(tree) == 2
    assert hub(tree) is None


def test_a_star_takes_as_many_rounds_as_there_are_messages() -> None:
    star = trace([(0, 1, 0, 1), (0, 2, 0, 2), (0, 3, 0, 3)])
    assert rounds(star) == 3
    assert hub(star) == 0


def test_a_chain_takes_as_many_rounds_as_there_are_messages() -> None:
    assert rounds(trace([(0, 1, 0, 1), (1, 2, 1, 2), (2, 3, 2, 3)])) == 3


def test_a_ring_sends_and_receives_in_the_same_round() -> None:
    first = [(r, (r + 1) % 4, 0.0, 1.0) for r in range(4)]
    second = [(r, (r + 1) % 4, 1.0, 2.0) for r in range(4)]
    assert rounds(trace(first)) == 1
    assert rounds(trace(first + second)) == 2


def test_a_rank_that_receives_from_all_takes_a_round_for_each() -> None:
    assert rounds(trace([(1, 0, 0, 1), (2, 0, 0, 2), (3, 0, 0, 3)])) == 3


def test_clocks_of_two_ranks_are_never_compared() -> None:
    skewed = Trace.of([
        Event(0, "send", 100.0, 101.0, 8, 1), Event(1, "recv", 0.0, 1.0, 8, 0),
        Event(1, "send", 1.0, 2.0, 8, 2), Event(2, "recv", 50.0, 51.0, 8, 1),
    ], 3)  # fmt: skip
    assert rounds(skewed) == 2


def test_messages_are_joined_in_order_for_each_tag_and_empty_ones_do_not_count() -> None:
    mixed = Trace.of([
        Event(0, "send", 0, 1, 8, 1, tag=1), Event(0, "send", 1, 2, 16, 1, tag=2), Event(0, "send", 2, 3, 0, 1),
        Event(1, "recv", 0, 2, 16, 0, tag=2), Event(1, "recv", 2, 3, 8, 0, tag=1), Event(1, "recv", 3, 4, 0, 0),
    ], 2)  # fmt: skip
    assert [(m.sent.tag, m.received.tag) for m in messages(mixed)] == [(1, 1), (2, 2)]
    assert sent(mixed) == {0: 24}
    assert number_received(mixed) == {1: 2}
