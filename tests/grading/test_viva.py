"""Two questions for each learner about their own run: their numbers are those of the run."""

from __future__ import annotations

import argparse
import json

import pytest

from lockstep.checks import Score
from lockstep.cli import grade as command
from lockstep.events import Event, Trace
from lockstep.grading.class_list import ClassList
from lockstep.grading.grade_submission import Judged, Result
from lockstep.grading.submission import GRADED, WRONG_FORMAT
from lockstep.grading.viva import text, viva
from lockstep.grading.viva_questions import questions

LAB = "04_communication"
RELEASE = {"cells": [{"metadata": {"nbgrader": {"grade_id": "tests-ring_all_reduce"}}}]}


def sent(rank: int, peer: int, nbytes: int, line: int, wait: float = 0.0) -> Event:
    return Event(rank, "send", 0.0, 1.0, nbytes, peer, (0, 1, 2), where=f"cell 3, line {line}", wait=wait)


RING = Trace.of(
    [sent(1, 2, 40, 5, 2e-6), sent(1, 2, 40, 6), sent(1, 0, 20, 6), Event(1, "compute", 0, 9)], 3, "virtual"
)
STEP = Trace.of([Event(r, "all_reduce", 0.0, 1.0, 64, None, (0, 1), wait=r * 1e-6) for r in (0, 1, 1)], 2, "virtual")


def score(name: str, trace: Trace | None, verdict: str = "passed") -> Score:
    return Score(f"communication.{name}", 1.0, 1.0, verdict, trace=trace, case="3 ranks")


def judged(student: str, **traces: Trace | None) -> Result:
    exercises = {}
    for name, trace in traces.items():
        one = score(name, trace)
        exercises[name] = Judged(one.to_json(), "", (), questions(one, student))
    return Result(student, GRADED, (), {"cells": []}, exercises)


def test_answers_are_numbers_of_the_run():
    told = {q["kind"]: (q["question"], q["answer"]) for q in questions(score("ring", RING), "ada")}
    assert {kind: answer for kind, (_, answer) in told.items()} == {
        "messages": "3: 1 to rank 0 and 2 to rank 2.",
        "bytes": "100 bytes, in 3 messages.",
        "line": "cell 3, line 6: 2 times.",
        "wait": "For its send to rank 2, in cell 3, line 5: 2.0 µs.",
    }
    assert told["messages"][0] == "ring, your run with 3 ranks: how many messages does rank 1 send, and to whom?"


def test_what_is_not_clear_is_not_asked():
    even = Trace.of([sent(1, 2, 40, 5, 2e-6), sent(1, 2, 40, 6, 2e-6)], 3, "virtual")
    assert [q["kind"] for q in questions(score("ring", even), "ada")] == ["messages", "bytes"]
    assert questions(score("ring", even), "ada")[0]["answer"] == "2, to rank 2."


def test_students_are_asked_about_ranks_of_their_own():
    asked = {student: questions(score("step", STEP), student)[0] for student in ("ada", "bob", "cyd", "dan")}
    assert {q["question"].partition(":")[2] for q in asked.values()} == {
        f" how often does rank {r} call all_reduce, and with how many bytes in all?" for r in (0, 1)
    }
    for student, q in asked.items():
        assert q["answer"].startswith("1 time, with 64" if "rank 0" in q["question"] else "2 times, with 128")
        assert questions(score("step", STEP), student)[0] == q, "the same in every run"


@pytest.mark.parametrize("one", [score("ring", None), score("ring", RING, "crashed"), score("ring", Trace())])
def test_without_a_run_that_came_to_its_end_nothing_is_asked(one):
    assert questions(one, "ada") == []


def test_a_student_is_asked_two_of_two_kinds_about_two_exercises():
    results = {s: judged(s, ring=RING, step=STEP) for s in ("ada", "bob")} | {"cyd": judged("cyd", ring=RING)}
    results["dan"] = Result("dan", WRONG_FORMAT, ["It is empty."])
    vivas = {one.student: one.questions for one in viva(results)}
    assert [len(vivas[s]) for s in ("ada", "bob", "cyd", "dan")] == [2, 2, 2, 0]
    for student in ("ada", "bob"):
        assert {q.question.partition(",")[0] for q in vivas[student]} == {"ring", "step"}
        assert len({q.kind for q in vivas[student]}) == 2
    same = [q.question for q in viva({"ada": judged("ada", one=STEP, other=STEP)})[0].questions]
    assert len(set(same)) == 2, "of one kind, where there is no other"
    told = text(viva(results), LAB)
    assert "dan\n  No run of theirs" in told
    assert "--again" not in told
    assert "--again" in text(viva({"dan": results["dan"]}), LAB)


def test_where_no_exercise_sends_messages_nobody_is_sent_to_grade_again():
    """Lab 00 was said to have been graded by an older Lockstep, perhaps."""
    told = text(viva({"ada": judged("ada", amdahl=None)}), "00_why_parallel", messages=False)
    assert told == "No exercise of 00_why_parallel sends messages: ask about the answers themselves."
    assert "--again" in text(viva({"ada": judged("ada", ring=None)}), LAB)


def test_a_terminal_is_told_no_command_by_a_learners_run():
    evil = Trace.of([sent(1, 2, 8, 5)] + [sent(1, 2, 8, 6)._replace(where="\x1b[2J" + "x" * 999)] * 2, 3, "virtual")
    told = text(viva({"ada": judged("ada", ring=evil)}), LAB)
    assert "\x1b" not in told
    assert len(told) < 1000


def test_kept_results_have_their_questions_and_older_ones_none():
    kept = json.loads(json.dumps(judged("ada", ring=RING).to_json()))
    assert viva({"ada": Result.from_json(kept)}) == viva({"ada": judged("ada", ring=RING)})
    del kept["exercises"]["ring"]["questions"]
    assert viva({"ada": Result.from_json(kept)})[0].questions == []


@pytest.mark.parametrize("as_json", [True, False])
def test_the_command_tells_them(monkeypatch, capsys, as_json, tmp_path):
    class Graded:
        topic, release, lab = "communication", RELEASE, LAB

        unwritten, untold, late = {}, None, {}

        def __init__(self, *options):
            self.class_list = ClassList(tmp_path, LAB, "secret")

        def solved(self):
            return None

        def run(self, tell):
            return {"ada": judged("ada", ring=RING)}

    monkeypatch.setattr(command, "Grader", Graded)
    told = argparse.Namespace(
        lab=LAB,
        jobs=1,
        student=None,
        again=False,
        own_seeds=False,
        unsafe=True,
        sandbox=None,
        answers=False,
        viva=True,
        alike=False,
        lms=None,
        lms_names=None,
        lms_column=None,
        json=as_json,
    )
    assert command.grade(told) == 0
    out = capsys.readouterr().out
    if as_json:
        (one,) = json.loads(out)["viva"]
        assert one["student"] == "ada"
        assert set(one["questions"][0]) == {"kind", "question", "answer"}
    else:
        assert out.startswith("ada\n  1. ring, your run with 3 ranks: ")
