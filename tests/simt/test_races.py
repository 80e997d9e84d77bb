"""Races among random accesses, against looking at every pair."""

import numpy as np
from hypothesis import strategies as st
from same_examples import given

from lockstep.simt.profile import LineCounts
from lockstep.simt.race_detection.races import Race, Records, by_lines, contested, numbered, races

accesses = st.lists(
    st.tuples(
        st.integers(0, 3),  # item
        st.integers(0, 2),  # actor
        st.sampled_from(["read", "write", "atomic"]),
        st.sampled_from([1.0, 2.0]),  # value
    ),
    min_size=1,
    max_size=12,
)


def recorded(rows: list[tuple[int, int, str, float]]) -> Records:
    items, actors, kinds, values = (list(column) for column in zip(*rows, strict=True))
    write, atomic = ([kind in wanted for kind in kinds] for wanted in (("write", "atomic"), ("atomic",)))
    numbers = (np.array(column) for column in (items, actors, [0] * len(rows), write, atomic, values))
    return Records(*numbers)


def conflict(one: tuple[int, int, str, float], other: tuple[int, int, str, float]) -> bool:
    kinds = {one[2], other[2]}
    return one[0] == other[0] and one[1] != other[1] and kinds not in ({"read"}, {"atomic"})


def harmless(rows: list[tuple[int, int, str, float]]) -> bool:
    """All only write, and the same."""
    return all(kind == "write" for _, _, kind, _ in rows) and len({value for *_, value in rows}) == 1


@given(accesses)
def test_an_item_is_raced_for_if_two_accesses_of_it_conflict(rows: list[tuple[int, int, str, float]]) -> None:
    records = recorded(rows)
    expected = set()
    for item in range(4):
        group = [row for row in rows if row[0] == item]
        if any(conflict(a, b) for a in group for b in group) and not harmless(group):
            expected.add(item)
    found = races(records, records.items, records.actors)
    assert {int(records.items[race.writer]) for race in found} == expected
    assert len(found) == len(expected)
    for race in found:
        assert records.write[race.writer]
        assert conflict(rows[race.writer], rows[race.other])


@given(accesses)
def test_what_is_not_contested_is_in_no_race(rows: list[tuple[int, int, str, float]]) -> None:
    records = recorded(rows)
    kept = contested(records.items, records.actors, records.write, size=10)
    found = races(records, records.items, records.actors)
    assert {race.writer for race in found} | {race.other for race in found} <= set(kept.tolist())
    for item in set(records.items[kept].tolist()):
        assert len({actor for i, actor, *_ in rows if i == item}) > 1


def test_races_are_told_once_for_each_pair_of_lines() -> None:
    first, second = LineCounts(3, "a"), LineCounts(7, "b")
    different, numbers = numbered([first, second, first])
    assert (different, numbers) == ([first, second], [0, 1, 0])
    records = Records(
        *(np.array(column) for column in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], [1, 0] * 2, [0] * 4, [0] * 4))
    )
    assert by_lines([Race(0, 1), Race(2, 3)], records) == [(Race(0, 1), 2)]
