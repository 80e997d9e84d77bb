"""The traces of staleness_of are drawn anew: whatever the seed, known answers are told what their files state."""

from __future__ import annotations

import pytest

from lockstep.checks import find
from lockstep.checks.closer_look import Closer
from lockstep.checks.known import Known, known_answers
from lockstep.checks.observe import observe
from lockstep.checks.verdict import score_of

STALENESS = find("without_waiting.staleness_of")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("known", known_answers(STALENESS), ids=lambda known: known.name)
def test_a_wrong_answer_is_told_what_its_file_states_whatever_the_seed(known: Known) -> None:
    for seed in range(2):
        fn = known.load(STALENESS.function)
        score = score_of(STALENESS, observe(STALENESS, fn, cases=STALENESS.cases(1, seed)), Closer(STALENESS, fn))
        assert score.findings[0].misconception == known.misconception, (seed, score.text())
