"""What a check sees of an answer that is right nearly always: wrong in float32, on the last rank, for one rank, for a
later step, on one element, where data are negative or all zeros. ``()`` stands for a tensor of that shape.

Of each exercise the reference is wrapped by such mutations. Whoever passes is declared in ``not_promised.py``, with the
reason: the text promises no more. Whoever is declared and does not pass is declared in vain."""

from __future__ import annotations

import pytest
from data_of_cases import lacking, shapes
from extremes import mutants_that_pass
from not_promised import DATA, MUTANTS, SHAPES, reasons

from lockstep.checks.exercise import Exercise, exercises, find

EVERY = exercises()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.runs("exercise")
@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.id)
def test_an_answer_that_is_wrong_at_one_extreme_is_seen(exercise: Exercise) -> None:
    assert mutants_that_pass(exercise) == sorted(reasons(MUTANTS, exercise.id))


@pytest.mark.slow
@pytest.mark.runs("exercise")
@pytest.mark.parametrize("exercise", [e for e in EVERY if not e.pure], ids=lambda e: e.id)
def test_each_rank_is_tried_with_data_that_are_zeros(exercise: Exercise) -> None:
    assert lacking(exercise) == sorted(reasons(DATA, exercise.id))


@pytest.mark.parametrize("id", SHAPES)
def test_a_shape_that_the_text_allows_is_tried(id: str) -> None:
    assert shapes(find(id)) >= set(SHAPES[id])


def test_what_is_declared_is_of_an_exercise() -> None:
    assert {e.id for e in EVERY} >= {id for declared in (MUTANTS, DATA) for row in declared.values() for id in row}
