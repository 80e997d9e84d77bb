"""The traces of staleness_of are drawn anew: whatever the seed, known answers are told what their files state."""

from __future__ import annotations

import pytest

from lockstep.checks import find
from lockstep.checks.closer_look import Closer
from lockstep.checks.known import Known, known_answers
from lockstep.checks.observe import observe
from lockstep.checks.verdict import score_of
from lockstep.exercises.without_waiting.server_traces import histogram

STALENESS = find("without_waiting.staleness_of")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("known", known_answers(STALENESS), ids=lambda known: known.name)
def test_a_wrong_answer_is_told_what_its_file_states_whatever_the_seed(known: Known) -> None:
    for seed in range(2):
        fn = known.load(STALENESS.function)
        score = score_of(STALENESS, observe(STALENESS, fn, cases=STALENESS.cases(1, seed)), Closer(STALENESS, fn))
        assert score.findings[0].misconception == known.misconception, (seed, score.text())


def test_the_server_does_other_things_too() -> None:
    """The text says that other kinds have nothing to do with it, and there were none: "else" counted as a gradient."""
    traces = [trace for case in STALENESS.cases(1, 0) for (trace,) in STALENESS.inputs(case, 0)]
    assert {"compute", "barrier"} <= {event.kind for trace in traces for event in trace.of_rank(0)}


def test_a_staleness_that_no_gradient_had_is_no_key_and_text_is_no_number() -> None:
    ((trace,), *_) = STALENESS.inputs(STALENESS.cases(1, 0)[0], 0)
    assert histogram(lambda trace: {0: 3, 1: 0}, (trace,)) == "{0: 3, 1: 0}"
    assert not isinstance(histogram(lambda trace: {"0": 3}, (trace,)), str)
