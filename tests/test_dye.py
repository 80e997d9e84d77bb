"""The dye shows what is in a result, for any linear collective; of what is not linear it says nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import dye_programs as programs
import pytest
import torch
from hypothesis import HealthCheck
from hypothesis import strategies as st
from same_examples import given, settings

from lockstep.checks.load import load
from lockstep.collectives import halving_doubling_all_reduce, ring_all_reduce, tree_broadcast, tree_reduce
from lockstep.dye import (
    Dyed,
    Part,
    Wanted,
    average,
    dye,
    find_flaw,
    like,
    only_at,
    profile,
    shifted,
    tensor_of,
    told,
    total,
)
from lockstep.dye.canonical_form import Symmetry
from lockstep.errors import UsageError

EXERCISES = Path(__file__).parents[1] / "pkg/lockstep/exercises/communication"


def parts(dyed: Dyed, rank: int, element: int) -> dict[int, Fraction]:
    """Who is in an element, from the same element of each."""
    cell = dyed.rows[rank][element]
    assert all(part.element == element for part in cell)
    return {part.rank: Fraction(part.times, dyed.weights) for part in cell}


def everybody(dyed: Dyed, times: int | Fraction = 1) -> bool:
    share = dict.fromkeys(range(dyed.ranks), Fraction(times))
    return all(parts(dyed, r, e) == share for r in range(dyed.ranks) for e in range(dyed.elements))


# ---- reading a result


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 9])
def test_a_right_ring_has_everybody_once_everywhere(ranks: int) -> None:
    dyed = dye(ring_all_reduce, ranks=ranks)
    assert dyed.certain
    assert dyed.weights == 1
    assert dyed.elements == max(8, ranks)
    assert everybody(dyed)
    assert told(dyed, total(dyed)) == ""
    assert find_flaw(dyed, total(dyed)) is None


DTYPES = {torch.float32: 6, torch.int32: 6, torch.int64: 8, torch.bfloat16: 4, torch.float16: 4}


@pytest.mark.parametrize(("dtype", "elements"), DTYPES.items())
def test_each_dtype_has_the_digits_that_it_holds(dtype: torch.dtype, elements: int) -> None:
    """bfloat16 holds two, and four ranks have a chunk each: so they are dyed in two goes."""
    dyed = dye(ring_all_reduce, ranks=4, dtype=dtype)
    assert dyed.certain
    assert dyed.elements == elements
    assert everybody(dyed)


def test_a_sum_that_is_computed_in_float32_is_read_as_well() -> None:
    assert everybody(dye(programs.in_float32, ranks=4))


@pytest.mark.parametrize(
    ("ranks", "dtype"), [(4, torch.float64), (9, torch.float64), (8, torch.float32), (9, torch.int32)]
)
def test_the_number_of_ranks_times_the_sum(ranks: int, dtype: torch.dtype) -> None:
    dyed = dye(programs.ranks_times, ranks=ranks, dtype=dtype)
    assert everybody(dyed, ranks)
    assert told(dyed, total(dyed)) == f"Every element is {ranks} times the sum."


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("fn", [programs.mean, programs.mean_by_factor])
def test_an_average_is_read_whether_the_number_of_ranks_is_a_power_of_two_or_not(fn: Any, ranks: int) -> None:
    dyed = dye(fn, ranks=ranks)
    assert dyed.certain
    assert dyed.weights == ranks
    assert everybody(dyed, Fraction(1, ranks))
    own = [[((q, e, ranks),) for e in range(dyed.elements)] for q in range(ranks)]  # in ranks-ths, as all of it
    assert dyed.in_place == tuple(map(tuple, own))
    assert told(dyed, average(dyed)) == ""
    assert told(dyed, total(dyed)) == f"Every element is the sum divided by {ranks}: the average."


def test_where_an_average_is_wanted_the_sum_is_told() -> None:
    dyed = dye(ring_all_reduce, ranks=4)
    assert told(dyed, average(dyed)) == "Every element is the sum: it is not divided by 4."


@pytest.mark.parametrize("fn", [programs.maximum, programs.whole_numbers, programs.keeps_the_sum_from_before])
def test_what_is_not_linear_gives_no_certain_answer_and_no_sentence(fn: Any) -> None:
    """A maximum shows every rank's dye once, as a sum does: the control finds it out."""
    dyed = dye(fn, ranks=4)
    assert not dyed.certain
    assert dyed.doubt in ("control", "digit")
    assert dyed.rows == ()
    assert told(dyed, total(dyed)) == ""
    assert profile(dyed) == ""


def test_a_digit_that_overflows_gives_no_certain_answer() -> None:
    """64 times element 0 is dyed like element 1 once."""
    dyed = dye(programs.LinearMap([[[[64, 0], [0, 64]]]]), ranks=1, elements=2)
    assert dyed.doubt == "digit" or dyed.doubt == "control"


def test_what_the_program_adds_by_itself_is_told() -> None:
    dyed = dye(programs.plus_two_and_a_half, ranks=3)
    assert dyed.certain
    assert everybody(dyed)
    assert set(dyed.alone[1]) == {2.5}
    assert told(dyed, total(dyed)).startswith("Every element holds 2.5 that came from nobody")
    assert told(replace(dyed, affine=True), total(dyed)) == ""


@pytest.mark.parametrize(
    ("fn", "failure"), [(programs.waits_for_itself, "Deadlock"), (programs.gives_up, "RankRaised")]
)
def test_a_run_that_fails_says_so_as_data(fn: Any, failure: str) -> None:
    dyed = dye(fn, ranks=3)
    assert (dyed.doubt, dyed.failure, dyed.certain) == ("failed", failure, False)
    assert told(dyed, total(dyed)) == ""


def test_words_are_no_result() -> None:
    assert dye(programs.says_words, ranks=2).doubt == "value"


def test_what_is_in_place_and_what_is_returned_are_both_read() -> None:
    returned = dye(programs.all_reduce, ranks=3)
    assert all(returned.returned)
    assert everybody(returned)
    assert returned.in_place == tuple(tuple((Part(r, e, 1),) for e in range(8)) for r in range(3))
    in_place = dye(programs.sums_in_place, ranks=3)
    assert not any(in_place.returned)
    assert everybody(in_place)
    assert in_place.in_place == in_place.rows
    spoilt = dye(programs.returns_the_sum_and_spoils_the_tensor, ranks=3)
    assert everybody(spoilt)
    assert spoilt.in_place == (((),) * 8,) * 3


def test_a_subgroup_counts_its_own_ranks_and_nobody_else_is_in_it() -> None:
    dyed = dye(ring_all_reduce, ranks=8, group=(1, 3, 4, 6))
    assert dyed.members == (1, 3, 4, 6)
    assert dyed.ranks == 4
    assert everybody(dyed)
    wrong = dye(programs.Ring(mistake="forgets"), ranks=8, group=(1, 3, 4, 6))
    assert "(Ranks are counted in the group of ranks 1, 3, 4 and 6.)" in told(wrong, total(wrong))


def test_a_single_rank_of_a_subgroup_is_named_with_its_group() -> None:
    dyed = dye(programs.mean, ranks=4, group=(1, 3))
    said = told(dyed, only_at(total(dyed), 1))
    assert said.startswith("Every element of rank 1 is the sum divided by 2: the average.")
    assert said.endswith("(Ranks are counted in the group of ranks 1 and 3.)")


def test_a_root_is_a_further_argument() -> None:
    dyed = dye(tree_broadcast, ranks=5, extra=(2,))
    assert told(dyed, tensor_of(dyed, 2)) == ""
    other = told(dyed, tensor_of(dyed, 1))
    assert other == "No element is right. Element 0 of rank 0 holds rank 2's; it should hold rank 1's."
    reduced = dye(tree_reduce, ranks=5, extra=(2,))
    assert told(reduced, only_at(total(reduced), 2)) == ""
    assert told(reduced, total(reduced)) != ""


def test_results_may_be_longer_and_shorter_than_the_tensors() -> None:
    gathered = dye(programs.gathers, ranks=3)
    assert gathered.certain
    assert [len(row) for row in gathered.rows] == [24] * 3
    assert gathered.rows[2][9] == (Part(1, 1, 1),)
    scattered = dye(programs.scatters, ranks=3, elements=7)
    assert [len(row) for row in scattered.rows] == [3, 2, 2]
    assert scattered.rows[1][0] == (Part(0, 3, 1), Part(1, 3, 1), Part(2, 3, 1))
    assert told(scattered, like(scattered)) == ""
    assert told(gathered, like(scattered)) == "The result of rank 0 has 24 elements; 3 are wanted."


def test_it_is_plain_data() -> None:
    for dyed in (dye(programs.mean, ranks=3), dye(programs.gives_up, ranks=2)):
        assert Dyed.from_json(json.loads(json.dumps(dyed.to_json()))) == dyed


@pytest.mark.parametrize(
    "wrong",
    [
        {"elements": 0}, {"dtype": torch.bool}, {"weights": 0},
        {"group": (0, 7)}, {"group": (1, 1)}, {"group": ()},
    ],
)  # fmt: skip
def test_what_cannot_be_dyed_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        dye(ring_all_reduce, ranks=4, **wrong)


def test_parts_with_a_declared_denominator() -> None:
    half, quarter = [[2]], [[1]]
    gossip = programs.LinearMap([[half, quarter, quarter]] * 3, over=4)
    dyed = dye(gossip, ranks=3, elements=1, weights=4)
    assert parts(dyed, 1, 0) == {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}
    assert told(dyed, total(dyed)).endswith("holds 1/2 of rank 0's, 1/4 of rank 1's and 1/4 of rank 2's.")
    undeclared = dye(programs.LinearMap([[half, quarter, quarter]] * 3, over=7), ranks=3, elements=1)
    assert not undeclared.certain


@pytest.mark.slow
@given(data=st.data(), ranks=st.integers(1, 3), elements=st.integers(1, 9))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_map_of_small_whole_numbers_is_found_exactly(data: Any, ranks: int, elements: int) -> None:
    small = st.integers(-9, 9)
    row = st.lists(small, min_size=elements, max_size=elements)
    matrix = st.lists(row, min_size=elements, max_size=elements)
    matrices = data.draw(st.lists(st.lists(matrix, min_size=ranks, max_size=ranks), min_size=ranks, max_size=ranks))
    added = data.draw(small)
    dyed = dye(programs.LinearMap(matrices, adds=added), ranks=ranks, elements=elements)
    assert dyed.certain
    assert dyed.weights == 1
    for rank in range(ranks):
        for element in range(elements):
            there = {(q, e): matrices[rank][q][element][e] for q in range(ranks) for e in range(elements)}
            assert {(p.rank, p.element): p.times for p in dyed.rows[rank][element]} == {
                k: n for k, n in there.items() if n
            }
            assert dyed.alone[rank][element] == added


# ---- steps


def drawn(dyed: Dyed, step: int) -> list[str]:
    """Who is in each chunk of each rank, as a string: "03 3 3 3"."""
    wide = dyed.elements // dyed.ranks
    return [
        " ".join("".join(str(part.rank) for part in cell) for cell in (row or ())[::wide]) or "?"
        for row in dyed.steps[step].rows
    ]


def test_a_ring_is_seen_step_by_step() -> None:
    dyed = dye(ring_all_reduce, ranks=4, steps=True)
    assert len(dyed.steps) == 7
    assert dyed.steps[-1].rows == dyed.rows
    assert drawn(dyed, 0) == ["0 0 0 0", "1 1 1 1", "2 2 2 2", "3 3 3 3"]
    assert drawn(dyed, 2) == ["0 023 03 0", "1 1 013 01", "12 2 2 012", "123 23 3 3"]
    assert [move[:2] for move in dyed.steps[2].moves] == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert [move.elements for move in dyed.steps[2].moves] == [(2, 3), (4, 5), (6, 7), (0, 1)]
    assert Dyed.from_json(json.loads(json.dumps(dyed.to_json()))) == dyed


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_a_ring_of_any_size_takes_its_rounds_and_every_chunk_moves_in_each(ranks: int) -> None:
    dyed = dye(programs.Ring(), ranks=ranks, steps=True)
    assert len(dyed.steps) == 2 * (ranks - 1) + 1
    for step in dyed.steps[:-1]:
        assert [move[:2] for move in step.moves] == [(r, (r + 1) % ranks) for r in range(ranks)]
        assert None not in step.rows


def test_a_tree_is_seen_step_by_step_in_a_subgroup() -> None:
    dyed = dye(tree_reduce, ranks=6, group=(5, 3, 1, 0), extra=(5,), steps=True)
    assert dyed.members == (0, 1, 3, 5)  # new_group sorts its ranks
    assert [[move[:2] for move in step.moves] for step in dyed.steps] == [[(1, 3), (2, 0)], [(0, 3)], []]
    assert [drawn(dyed, n)[3] for n in range(3)] == ["3 3 3 3", "13 13 13 13", "0123 0123 0123 0123"]


def test_without_messages_there_is_the_result_alone_and_without_the_wish_nothing() -> None:
    dyed = dye(programs.all_reduce, ranks=3, steps=True)
    assert [step.rows for step in dyed.steps] == [dyed.rows]
    assert dye(ring_all_reduce, ranks=3).steps == ()


def test_on_processes_the_result_is_the_same_and_there_are_no_steps() -> None:
    """Real backends are in C++: nobody sees there what a rank holds on the way."""
    dyed = dye(ring_all_reduce, ranks=2, steps=True, on="processes")
    assert everybody(dyed)
    assert dyed.steps == ()


def test_messages_that_depend_on_the_values_have_no_steps() -> None:
    dyed = dye(programs.sends_where_something_is, ranks=2, steps=True)
    assert dyed.certain
    assert dyed.steps == ()


# ---- sentences


def ring(**how: Any) -> Dyed:
    return dye(programs.Ring(**how), ranks=4)


def test_who_is_missing() -> None:
    dyed = ring(mistake="forgets")
    assert told(dyed, total(dyed)) == (
        "On each rank 6 of 8 elements are right. "
        "Element 4 of rank 0 holds rank 0's, rank 2's and rank 3's; rank 1 is missing."
    )


def test_who_is_there_twice() -> None:
    dyed = ring(mistake="adds")
    said = told(dyed, total(dyed))
    assert "rank 0's twice" in said
    assert "missing" not in said


def test_what_comes_from_elsewhere() -> None:
    there = programs.LinearMap([[[[0, 1], [1, 0]]]])
    dyed = dye(there, ranks=1, elements=2)
    assert told(dyed, total(dyed)) == (
        "None of 2 elements of rank 0 is right. Element 0 of rank 0 holds element 1 of rank 0's."
    )


def test_nothing_has_changed() -> None:
    dyed = dye(load(EXERCISES / "ring_all_reduce/wrong/copy_lost.py", "ring_all_reduce"), ranks=4)
    assert told(dyed, total(dyed)) == "Nothing is returned, and every rank's tensor is what it was."


def test_of_a_reduce_nothing_is_said_of_ranks_that_do_not_count() -> None:
    """The root named in the call keeps its tensor; rank 0, which was taken for it, has another one."""
    dyed = dye(load(EXERCISES / "tree_reduce/wrong/root_zero.py", "tree_reduce"), ranks=5, extra=(2,))
    assert told(dyed, only_at(total(dyed), 2)) == "Nothing is returned, and rank 2's tensor is what it was."


def test_the_wrong_neighbour() -> None:
    dyed = dye(load(EXERCISES / "mend_ring_of_sends/wrong/wrong_direction.py", "mend_ring_of_sends"), ranks=4)
    assert told(dyed, shifted(dyed)).endswith("Element 0 of rank 0 holds rank 1's; it should hold rank 3's.")


def test_whole_ranks_are_counted_as_such() -> None:
    dyed = dye(load(EXERCISES / "tree_broadcast/wrong/forgets_last_round.py", "tree_broadcast"), ranks=5, extra=(2,))
    assert told(dyed, tensor_of(dyed, 2)).startswith("Ranks 0, 2, 3 and 4 are right; of the others no element is.")


def test_a_long_list_is_cut() -> None:
    dyed = dye(programs.left_over, ranks=12)
    assert told(dyed, total(dyed)).endswith("ranks 1, 2, 3, 4, 5, 6, 7, 8 and 3 more are missing.")


@given(data=st.data(), ranks=st.integers(2, 4), elements=st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_every_sentence_names_what_is_there(data: Any, ranks: int, elements: int) -> None:
    """Of any result: a sentence exactly where something is wrong, and its numbers are those of the data."""
    times = st.integers(-2, 3)
    cell = st.tuples(*[times] * ranks).map(lambda ns: {q: n for q, n in enumerate(ns) if n})
    drawn = data.draw(st.lists(st.lists(cell, min_size=elements, max_size=elements), min_size=ranks, max_size=ranks))
    rows = tuple(tuple(tuple(Part(q, e, n) for q, n in c.items()) for e, c in enumerate(row)) for row in drawn)
    dyed = Dyed(
        tuple(range(ranks)),
        elements,
        "float64",
        rows=rows,
        alone=((0.0,) * elements,) * ranks,
        returned=(True,) * ranks,
    )
    flaw, said = find_flaw(dyed, total(dyed)), told(dyed, total(dyed))
    right = [[set(c.values()) == {1} and len(c) == ranks for c in row] for row in drawn]
    assert (said == "") == all(map(all, right))
    if flaw and flaw.kind == "cell":
        assert dict(flaw.right) == {r: sum(row) for r, row in enumerate(right)}
        held = drawn[flaw.rank][flaw.element]
        assert {r: n for (r, _), n in flaw.held.items()} == held
        assert not right[flaw.rank][flaw.element]
        lost = [q for q in range(ranks) if q not in held]
        assert bool(lost and held) == ("missing" in said)


# ---- profiles


def renamed(dyed: Dyed, ranks: list[int], chunks: list[int] | None = None) -> Dyed:
    """The same with rank r called ``ranks[r]``, and chunk c ``chunks[c]``."""
    wide = dyed.elements // dyed.ranks
    place = [wide * chunk + i for chunk in (chunks or range(dyed.ranks)) for i in range(wide)]
    rows: list[Any] = [[()] * dyed.elements for _ in dyed.rows]
    for rank, row in enumerate(dyed.rows):
        for element, cell in enumerate(row):
            moved = (Part(ranks[p.rank], place[p.element], p.times) for p in cell)
            rows[ranks[rank]][place[element]] = tuple(sorted(moved))
    return replace(dyed, rows=tuple(map(tuple, rows)))


@st.composite
def results(draw: Any) -> Dyed:
    """Any result of two to five ranks, with two elements to a chunk."""
    ranks = draw(st.integers(2, 5))
    elements = 2 * ranks
    part = st.tuples(st.integers(0, ranks - 1), st.integers(0, elements - 1), st.sampled_from((1, 2, -1)))
    cell = st.lists(part, max_size=3, unique_by=lambda p: p[:2]).map(lambda ps: tuple(Part(*p) for p in sorted(ps)))
    row = st.lists(cell, min_size=elements, max_size=elements).map(tuple)
    rows = draw(st.lists(row, min_size=ranks, max_size=ranks).map(tuple))
    return Dyed(tuple(range(ranks)), elements, "float64", rows=rows, alone=((0.0,) * elements,) * ranks)


@pytest.mark.slow
@given(dyed=results(), data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_profile_is_the_same_under_its_symmetry(dyed: Dyed, data: Any) -> None:
    K = dyed.ranks
    chunks = data.draw(st.permutations(range(K)))
    by, way = data.draw(st.integers(0, K - 1)), data.draw(st.sampled_from((1, -1)))
    turned = [(way * r + by) % K for r in range(K)]
    assert profile(renamed(dyed, turned, chunks), "rotation") == profile(dyed, "rotation")
    shifted_by = [(r + by) % K for r in range(K)]
    assert profile(renamed(dyed, shifted_by, chunks), "shift") == profile(dyed, "shift")
    anyhow = data.draw(st.permutations(range(K)))
    assert profile(renamed(dyed, anyhow, chunks), "any") == profile(dyed, "any")
    assert profile(renamed(dyed, anyhow, chunks), "root", anyhow[0]) == profile(dyed, "root", 0)


@pytest.mark.parametrize("mistake", ["", "forgets", "adds", "scatters"])
@pytest.mark.parametrize("elements", [8, 4])
def test_a_ring_that_turns_the_other_way_or_begins_elsewhere_makes_the_same_mistake(
    mistake: str, elements: int
) -> None:
    profiles = {
        profile(dye(programs.Ring(way, begin, mistake), ranks=4, elements=elements))
        for way in (1, -1)
        for begin in (0, 1, 2)
    }
    assert len(profiles) == 1
    assert "" not in profiles


RINGS: list[tuple[str, int, Symmetry, Callable[[Dyed], Wanted], tuple[Any, ...]]] = [
    ("ring_all_reduce", 4, "rotation", total, ()),
    ("ring_all_reduce", 5, "rotation", total, ()),
    ("halving_doubling_all_reduce", 4, "any", total, ()),
    ("tree_reduce", 5, "root", lambda d: only_at(total(d), 2), (2,)),
    ("tree_reduce", 8, "root", lambda d: only_at(total(d), 2), (2,)),
    ("tree_broadcast", 5, "root", lambda d: tensor_of(d, 2), (2,)),
    ("mend_ring_of_sends", 4, "shift", shifted, ()),
]
ALIKE = {  # no result tells these apart, up to names: the first two keep the same half, the others differ in rounds
    ("halving_doubling_all_reduce", 4): [{"lower_ranks", "parity"}],
    ("tree_reduce", 5): [{"own_tensor_only", "tree_forwards"}],
    ("tree_reduce", 8): [{"own_tensor_only", "tree_forwards"}],
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks", "symmetry", "wanted", "extra"), RINGS)
def test_profiles_part_the_known_wrong_answers(
    name: str, ranks: int, symmetry: Symmetry, wanted: Callable[[Dyed], Wanted], extra: tuple[Any, ...]
) -> None:
    by_profile: dict[str, set[str]] = defaultdict(set)
    for file in sorted(set((EXERCISES / name / "wrong").glob("*.py")) - {EXERCISES / name / "wrong/endless_loop.py"}):
        dyed = dye(load(file, name), ranks=ranks, extra=extra)
        if told(dyed, wanted(dyed)):
            by_profile[profile(dyed, symmetry, extra[0] if extra else None)].add(file.stem)
    assert len(by_profile) >= 3
    assert [names for names in by_profile.values() if len(names) > 1] == ALIKE.get((name, ranks), [])


def test_a_right_answer_of_another_kind_has_the_same_profile() -> None:
    for symmetry in ("rotation", "any"):
        answers = (ring_all_reduce, halving_doubling_all_reduce, programs.all_reduce)
        assert len({profile(dye(fn, ranks=4), symmetry) for fn in answers}) == 1


def test_a_symmetry_that_there_is_not_is_refused() -> None:
    dyed = dye(programs.sums_in_place, ranks=2)
    for symmetry, root in (("mirror", None), ("root", None), ("root", 2)):
        with pytest.raises(UsageError):
            profile(dyed, symmetry, root)  # type: ignore[arg-type]
