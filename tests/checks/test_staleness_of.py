"""The traces of staleness_of are drawn anew: whatever the seed, known answers are told what their files state."""

from __future__ import annotations

from random import Random

import pytest

from lockstep.checks import find
from lockstep.checks.assess import score_of
from lockstep.checks.closer import Closer
from lockstep.checks.known import Known, known_answers
from lockstep.checks.observe import observe
from lockstep.exercises.without_waiting.staleness_of.exercise import recorded
from lockstep.without_waiting.staleness import staleness_of

STALENESS = find("without_waiting.staleness_of")


@pytest.mark.parametrize("known", known_answers(STALENESS), ids=lambda known: known.name)
def test_a_wrong_answer_is_told_what_its_file_states_whatever_the_seed(known: Known) -> None:
    for seed in range(2):
        fn = known.load(STALENESS.function)
        score = score_of(STALENESS, observe(STALENESS, fn, cases=STALENESS.cases(1, seed)), Closer(STALENESS, fn))
        assert score.findings[0].misconception == known.misconception, (seed, score.text())


def test_the_trace_of_the_exercise_keeps_the_bound() -> None:
    """In lockstep nobody's gradient misses more than the others of its own step."""
    for seed in range(20):
        found = staleness_of(recorded(Random(seed), [4, 4, 4], 5.0, 0))
        assert found == {0: 4, 1: 4, 2: 4}
