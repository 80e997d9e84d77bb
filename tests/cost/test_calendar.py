"""Calendars: what is booked on a port or a core, drawn as spans of time."""

from itertools import pairwise

from hypothesis import strategies as st
from same_examples import given

from lockstep.cost.contention import MANY, Calendar, together


def booked(*spans: tuple[float, float], now: float = 0.0) -> Calendar:
    calendar = Calendar()
    for span in spans:
        calendar.book(*span, now)
    return calendar


def test_spans_that_touch_become_one() -> None:
    assert booked((0.0, 1.0), (2.0, 3.0), (1.0, 2.0), (5.0, 6.0)).spans == [(0.0, 3.0), (5.0, 6.0)]
    assert booked((4.0, 5.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)).spans == [(1.0, 5.0)]


def test_work_takes_the_first_gap_that_is_long_enough() -> None:
    calendar = booked((0.0, 1.0), (2.0, 3.0), (5.0, 6.0))
    assert [calendar.earliest(0.0, seconds) for seconds in (1.0, 2.0, 3.0)] == [1.0, 3.0, 6.0]
    assert [calendar.earliest(ready, 1.0) for ready in (1.0, 1.5, 2.5, 4.5, 9.0)] == [1.0, 3.0, 3.0, 6.0, 9.0]


def test_two_calendars_are_free_together_where_no_gap_of_one_suffices() -> None:
    one, other = booked((0.0, 2.0), (4.0, 6.0)), booked((2.0, 3.0), (6.0, 8.0))
    assert together([one, other], 0.0, 1.0) == 3.0
    assert together([one, other], 0.0, 2.0) == 8.0


def test_what_is_over_is_forgotten() -> None:
    calendar = Calendar()
    for i in range(10 * MANY):
        calendar.book(2.0 * i, 2.0 * i + 1, now=2.0 * i)
    assert len(calendar.spans) == 1
    for i in range(10 * MANY, 20 * MANY):
        calendar.book(2.0 * i, 2.0 * i + 1, now=2.0 * i - 5)
    assert len(calendar.spans) <= MANY + 1
    assert calendar.earliest(40.0 * MANY - 6, 0.5) == 40.0 * MANY - 5, "what is not over is known"


spans = st.tuples(st.integers(0, 60), st.integers(1, 6))


@given(st.lists(spans, max_size=40))
def test_no_two_bookings_overlap_and_none_could_begin_earlier(wanted: list[tuple[int, int]]) -> None:
    calendar, busy = Calendar(), set[int]()
    for ready, seconds in wanted:
        start = calendar.earliest(ready, seconds)
        hours = set(range(int(start), int(start) + seconds))
        assert not busy & hours
        assert all(busy & set(range(t, t + seconds)) for t in range(ready, int(start))), "left-justified"
        calendar.book(start, start + seconds)
        busy |= hours
    assert all(a[1] < b[0] for a, b in pairwise(calendar.spans))
    assert sum(end - start for start, end in calendar.spans) == len(busy)
