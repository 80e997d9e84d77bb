"""Stretches of time, compared with counting on a line of small steps."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st
from same_examples import given

from lockstep.intervals import common, length, merged

SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6)).map(lambda s: (s[0], s[0] + s[1])), max_size=8)


def covered(spans: list[tuple[int, int]]) -> set[int]:
    return {step for begin, end in spans for step in range(begin, end)}


@given(SPANS, SPANS)
def test_what_is_covered_and_what_is_shared(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    first, second = merged(one), merged(other)
    assert length(first) == len(covered(one))
    assert common(first, second) == common(second, first) == len(covered(one) & covered(other))
    assert all(a[1] < b[0] for a, b in pairwise(first))
