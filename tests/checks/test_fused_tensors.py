"""fused_tensors is asked of recorded timelines that a seed changes: whatever the seed, what is told is true."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from lockstep.checks import find
from lockstep.checks.case import Case
from lockstep.checks.closer_look import Closer
from lockstep.checks.evidence_rules import first
from lockstep.checks.known import Known, known_answers
from lockstep.checks.observe import observe
from lockstep.checks.verdict import score_of
from lockstep.exercises.horovod.fused_tensors.exercise import RULES, TOLD, timelines
from lockstep.exercises.horovod.timelines import at_once, evidence, holding, recorded, varied
from lockstep.experiments.horovod.recorded import recording
from lockstep.with_horovod.timeline import Timeline, fused_tensors, names, spans

FUSED = find("horovod.fused_tensors")
Answer = list[list[str]]


def said(answer: object, timeline: Timeline) -> str:
    fault = first(RULES, evidence(answer, timeline))
    return fault.message if fault else ""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("known", known_answers(FUSED), ids=lambda known: known.name)
def test_a_wrong_answer_is_told_what_its_file_states_whatever_the_seed(known: Known) -> None:
    for seed in range(2):
        fn = known.load(FUSED.function)
        score = score_of(FUSED, observe(FUSED, fn, cases=FUSED.cases(1, seed)), Closer(FUSED, fn))
        assert score.findings[0].misconception == known.misconception, (seed, score.text())


def test_every_recorded_timeline_is_asked_about() -> None:
    assert set(TOLD) == set(recording("timelines").value)


@pytest.mark.parametrize("name", TOLD)
def test_a_seed_changes_names_rows_and_times_and_not_what_was_fused(name: str) -> None:
    plain, changed = recorded(name), varied(recorded(name), Random(3))
    assert [len(tensors) for tensors in fused_tensors(changed)] == [len(t) for t in fused_tensors(plain)]
    assert sorted(names(changed).values()) == sorted(names(plain).values())
    assert [e["ts"] for e in changed if "ts" in e] != [e["ts"] for e in plain if "ts" in e]
    assert recorded(name) == plain
    drawn = {str(names(varied(recorded(name), Random(seed)))) for seed in range(8)}
    assert len(drawn) > 3


def test_the_data_tell_apart_what_learners_confuse() -> None:
    """What each case is called is true of it, whatever is recorded next."""
    fused = {name: fused_tensors(timeline) for name, timeline in recording("timelines").value.items()}
    assert [len(tensors) for tensors in fused["fused"]] == [4, 4, 4]
    assert [len(tensors) for tensors in fused["unfused"]] == [1, 1, 1, 1]
    assert [len(tensors) for tensors in fused["a threshold"]] == [2, 2, 2, 2]
    assert {len(tensors) for tensors in fused["late tensors"]} == {1, 2}
    assert len(fused["one rank"]) == 6
    late = recording("timelines").value["late tensors"]
    assert any(e["ph"] == "i" for e in late)


CHANGES: dict[str, tuple[str, Callable[[Answer], object]]] = {
    "a tuple": ("", lambda right: right),
    "nothing": ("it returns nothing (None)", lambda right: None),
    "names": ("a list in which 'allreduce.", lambda right: right[0]),
    "numbers": ("7 is the number of a row", lambda right: [[7]]),
    "a phase": ("'GLOO_ALLREDUCE' is the name of no tensor", lambda right: [["GLOO_ALLREDUCE"]]),
    "all in one": ("stands twice in one list", lambda right: [[t for tensors in right for t in tensors]]),
    "the last one left out": ("was all-reduced 2 times, and stands in 1 list.", lambda right: right[:-1]),
    "nothing at all": ("was all-reduced 2 times, and stands in 0 lists.", lambda right: []),
    "the first one twice": ("An all-reduce has several spans", lambda right: [right[0], *right]),
    "each alone": ("one operation carried both", lambda right: [[t] for tensors in right for t in tensors]),
    "two joined": ("no operation carried both", lambda right: [right[0] + right[1], *right[2:]]),
    "backwards": ("not in order of time", lambda right: right[::-1]),
    "unsorted": ("a list is not sorted", lambda right: [tensors[::-1] for tensors in right]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_wrong_is_said(change: str) -> None:
    told, changed = CHANGES[change]
    timeline = recorded("late tensors")
    message = said(changed(fused_tensors(timeline)), timeline)
    assert told in message if told else not message


def test_an_order_that_is_wrong_names_what_came_first() -> None:
    timeline = recorded("unfused")
    first_one, second, *rest = fused_tensors(timeline)
    assert f"{first_one} was carried out before {second}." in said([second, first_one, *rest], timeline)


def test_lists_that_stand_too_often_are_counted() -> None:
    """It was told that no operation carried such a list; one did, but not two."""
    timeline = recorded("late tensors")
    right = fused_tensors(timeline)  # a and b went together once, and each alone once
    a, b = next(tensors for tensors in right if len(tensors) == 2)
    twice = [tensors for tensors in right if tensors not in ([a], [b])] + [[a, b]]
    assert f"the list {[a, b]} stands in your answer 2 times; there is such an operation 1 time." in said(
        twice, timeline
    )


def by_times(timeline: Timeline, lasting: bool) -> Answer:
    """A learner's: spans by their times alone. ``lasting``: those that take no microsecond are left out."""
    found = [(s.begin, s.end, s.tensor) for s in spans(timeline) if s.phase == "GLOO_ALLREDUCE"]
    operations, until = list[list[str]](), -1.0
    for begin, end, name in sorted(row for row in found if row[0] < row[1] or not lasting):
        operations += [] if begin < until else [[]]
        operations[-1].append(name)
        until = max(until, end)
    return [sorted(tensors) for tensors in operations]


@pytest.mark.parametrize("name", TOLD)
def test_an_operation_that_takes_no_microsecond_is_one(name: str) -> None:
    """Answers that compare times alone had full points: there was no such operation of several tensors."""
    fused = recorded(name)
    once = at_once(recorded(name))
    assert fused_tensors(once) == fused_tensors(fused)
    assert by_times(fused, lasting=False) == fused_tensors(fused)
    assert "ends in the microsecond in which it begins" in said(by_times(once, lasting=True), once)
    if any(len(tensors) > 1 for tensors in fused_tensors(once)):
        assert "Of equal times the order of the events decides." in said(by_times(once, lasting=False), once)


def by_any_end(timeline: Timeline) -> Answer:
    """A learner's: the next end on a row is that of its all-reduce."""
    named, inside, found = names(timeline), set[int](), list[list[str]]()
    for event in timeline:
        if event["ph"] == "B" and event["name"] == "GLOO_ALLREDUCE":
            found += [] if inside else [[]]
            found[-1].append(named[event["pid"]])
            inside.add(event["pid"])
        elif event["ph"] == "E":
            inside.discard(event["pid"])
    return [sorted(tensors) for tensors in found]


def test_an_end_is_that_of_what_began_last_on_its_row() -> None:
    """An answer that took any end for that of the all-reduce had full points: nothing ended within one."""
    plain, held = recorded("fused"), holding(recorded("fused"))
    assert by_any_end(plain) == fused_tensors(plain) == fused_tensors(held)
    assert "Within GLOO_ALLREDUCE, WAIT_FOR_DATA begins and ends on their rows" in said(by_any_end(held), held)
    asked = [timeline for case in FUSED.cases(1, 0) for (timeline,) in timelines(case, 0)]
    assert any(by_any_end(timeline) != fused_tensors(timeline) for timeline in asked)


@pytest.mark.parametrize("case", FUSED.cases(1, 0), ids=str)
def test_each_timeline_is_as_the_text_says(case: Case) -> None:
    """A reader asked: may something stay open at the end, may a name come late, and which events have no row?"""
    for (timeline,) in timelines(case, 0):
        assert all(span.ended for span in spans(timeline))
        assert {event["ph"] for event in timeline if "pid" not in event} <= {"i"}
        named = set[int]()
        for event in timeline:
            named |= {event["pid"]} if event.get("name") == "process_name" else set()
            assert event["ph"] not in ("B", "E") or event["pid"] in named
