"""What a class got wrong, by what each was told."""

from __future__ import annotations

from lockstep.checks import find
from lockstep.checks.known import tellable
from lockstep.grading.class_answers import SHOWN, class_answers, left_out, table
from lockstep.grading.grade_submission import Judged, Result
from lockstep.grading.submission import GRADED, WRONG_FORMAT

LAB, TOPIC, NAME = "04_communication", "communication", "ring_all_reduce"
KNOWN = tellable(find(f"{TOPIC}.{NAME}"))[0].misconception


def answered(student: str, verdict: str, *told: str) -> Result:
    findings = [{"misconception": id, "message": f"{id} of {student}.\nAnd more.", "points": 0.0} for id in told]
    score = {"points": 0.0, "maximum": 3.0, "verdict": verdict, "findings": findings}
    return Result(student, GRADED, (), {"cells": []}, {NAME: Judged(score, "")})


def graded(*results: Result) -> dict[str, Result]:
    return {r.student: r for r in results}


def test_answers_are_grouped_by_what_they_were_told_first_the_most_frequent_first():
    results = graded(
        answered("ada", "passed"),
        answered("bob", "wrong", "wrong-values"),
        answered("cyd", "wrong", KNOWN, "wrong-values"),
        answered("dan", "wrong", KNOWN),
        answered("eve", "crashed", "crashed:Deadlock"),
    )
    [one] = class_answers(TOPIC, [NAME], results)
    assert (one.right, one.number) == (1, 5)
    assert [(g.misconception, g.general, g.students) for g in one.groups] == [
        (KNOWN, False, ["cyd", "dan"]),
        ("crashed:Deadlock", False, ["eve"]),
        ("wrong-values", True, ["bob"]),
    ]


def test_what_could_not_be_graded_is_no_answer():
    results = graded(answered("ada", "ungraded", "ungraded"), Result("bob", WRONG_FORMAT, ["It is empty."]))
    [one] = class_answers(TOPIC, [NAME], results)
    assert (one.right, one.number, one.groups) == (0, 0, [])
    assert left_out(results) == ["bob (wrong format)"]
    assert table([one], LAB, left_out(results)).splitlines()[-1] == "Not among these: bob (wrong format)."


def test_the_table_tells_a_teacher_where_a_general_one_may_be_added():
    results = graded(*(answered(f"student{n}", "wrong", "wrong-values") for n in range(SHOWN + 2)))
    text = table(class_answers(TOPIC, [NAME], results), LAB)
    assert "communication.ring_all_reduce: 0 of 8 right" in text
    assert "8  wrong-values  general: student0, " in text
    assert "student5 and 2 more" in text
    assert "wrong-values of student0." in text
    assert "And more" not in text
    assert f"course/{LAB}/wrong/{NAME}/NAME.py" in text


def test_a_terminal_is_told_no_command_by_a_students_name():
    results = graded(answered("\x1b[2Jada", "wrong", KNOWN))
    text = table(class_answers(TOPIC, [NAME], results), LAB)
    assert "\x1b" not in text
    assert "general" not in text
