"""Which answers of a class are alike beyond what the lab gives."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from writing import LAB as WHY
from writing import Desk

from lockstep.checks.syntax_trees import form_of_text
from lockstep.cli import grade as command
from lockstep.cli import main
from lockstep.grading.course import root
from lockstep.grading.grade_submission import Judged, Result, Task, graded
from lockstep.grading.similar_answers import LIBRARY, SOLUTION, alike, in_one_line, text
from lockstep.grading.submission import GRADED, grade_id, whole

LAB, TOPIC, NAME = "04_communication", "communication", "tree_broadcast"
SCORE = {"points": 0.0, "maximum": 3.0, "verdict": "wrong", "findings": []}
OWN = """
def tree_broadcast(tensor, root=0, group=None):
    me, size = dist.get_rank(group), dist.get_world_size(group)
    place = (me - root) % size
    reach = 1
    while reach < size:
        if place < reach and place + reach < size:
            dist.send(tensor, group=group, group_dst=(me + reach) % size)
        elif reach <= place < 2 * reach:
            dist.recv(tensor, group=group, group_src=(me - reach) % size)
        reach *= 2
    return tensor
"""
OTHER = """
def tree_broadcast(tensor, root=0, group=None):
    def number(of):
        return (of + root) % dist.get_world_size(group)

    mine = [r for r in range(dist.get_world_size(group)) if number(r) == dist.get_rank(group)][0]
    if mine:
        above = mine & (mine - 1)
        dist.recv(tensor, group=group, group_src=number(above))
    step = 1
    while not mine & step and mine + step < dist.get_world_size(group):
        step <<= 1
    for child in reversed([mine + (1 << bit) for bit in range(step.bit_length())]):
        if child < dist.get_world_size(group):
            dist.send(tensor, group=group, group_dst=number(child))
    return tensor
"""


@pytest.fixture(scope="module")
def release() -> dict:
    return whole(json.loads((root() / "labs" / LAB / "lab.ipynb").read_text()))


@pytest.fixture(scope="module")
def solved() -> dict:
    return whole(json.loads((root() / "solutions" / LAB / "lab.ipynb").read_text()))


def answered(answers: Mapping[str, str]) -> dict[str, Result]:
    results = {}
    for student, source in answers.items():
        form = form_of_text([(f"import torch.distributed as dist\n{source}", student)], NAME)
        judged = Judged(SCORE, "", form=json.loads(json.dumps(form.to_json())) if form else {})
        results[student] = Result(student, GRADED, (), {"cells": []}, {NAME: judged})
    return results


def cell(notebook: dict, name: str = NAME) -> str:
    return next(c["source"] for c in notebook["cells"] if grade_id(c) == f"answer-{name}")


def groups(answers: Mapping[str, str], release: dict, solved: dict | None = None) -> list[tuple]:
    found = alike(TOPIC, [NAME], answered(answers), release, solved)
    return [(g.students, g.published, g.share) for g in found]


def test_other_names_and_a_comment_make_no_other_answer(release):
    renamed = OWN.replace("place", "vr").replace("reach", "mask").replace("reach *= 2", "reach *= 2  # double it")
    assert groups({"ada": OWN, "bob": OTHER, "cyd": renamed}, release) == [(["ada", "cyd"], [], 1.0)]


def test_what_differs_in_a_line_is_nearly_the_same(release):
    one_line = OWN.replace("reach *= 2", "reach += reach")
    ((students, published, share),) = groups({"ada": OWN, "cyd": one_line}, release)
    assert (students, published) == (["ada", "cyd"], [])
    assert 0.9 <= share < 1


def test_answers_that_were_written_apart_are_not_listed(release, solved):
    assert groups({"ada": OWN, "bob": OTHER}, release, solved) == []


def test_the_stub_that_everyone_has_is_nothing_alike_nor_is_a_line_that_was_added_to_it(release, solved):
    stub = cell(release)
    begun = stub.replace("raise NotImplementedError()", "return tensor")
    assert groups({"ada": stub, "bob": stub, "cyd": begun, "dan": begun}, release, solved) == []


def test_what_the_course_has_published_is_named(release, solved):
    found = alike(TOPIC, [NAME], answered({"ada": cell(solved), "bob": OWN}), release, solved)
    assert [(g.students, g.published, g.share) for g in found] == [(["ada"], [SOLUTION], 1.0)]
    assert f"{NAME}:\n  ada and the course's solution: the same, names and comments aside" in text(found, LAB)
    (line,) = in_one_line(found, LAB)
    assert line.startswith("1 answer is the library's or the course's, in an exercise: `lockstep grade")
    assert LIBRARY not in text(found, LAB)


def test_who_was_graded_by_an_older_lockstep_is_left_out(release):
    old = Result("eve", GRADED, (), {"cells": []}, {NAME: Judged(SCORE, "")})
    assert alike(TOPIC, [NAME], answered({"ada": OWN}) | {"eve": old}, release, None) == []
    assert "`--again`" in text([], LAB)
    assert in_one_line([], LAB) == []


def test_a_judge_takes_the_forms_of_what_it_grades(tmp_path, monkeypatch):
    """In the judge, and not in the grader: what a notebook does to who parses it must cost nobody else."""
    monkeypatch.setattr("lockstep.grading.grade_submission._judged", lambda id, file, task: Judged(SCORE, ""))
    monkeypatch.setenv("LOCKSTEP_SEED", "a judge, which is a process of its own, has one")
    desk = Desk(tmp_path)
    nb = json.loads(json.dumps(desk.release))
    for found in nb["cells"]:
        if grade_id(found) == "answer-amdahl":
            found["source"] = "def amdahl(p, s):\n    return 1 / ((1 - p) + p / s)"
        if grade_id(found) == "answer-training_days":
            found["source"] = "def training_days(:"
    folder = desk.hand_in("ada", json.dumps(nb))
    result = graded(Task("ada", folder, desk.release, "why_parallel", "secret", False, (), ""))
    assert result.exercises["amdahl"].form["nodes"] > 10
    assert result.exercises["training_days"].form == {}
    assert Result.from_json(json.loads(json.dumps(result.to_json()))).exercises["amdahl"].form["rows"]


def test_the_command_lists_them_and_says_without_being_asked_that_there_are_some(tmp_path, monkeypatch, capsys):
    desk = Desk(tmp_path)
    name = "workers_needed"
    source = cell(whole(json.loads((root() / "solutions" / WHY / "lab.ipynb").read_text())), name)
    padded = (
        source
        + "\n"
        + OWN.replace("tree_broadcast", "helper")
        + f"\n\ndef {name}(a, b, c):\n    return helper(a, b, c)"
    )
    form = form_of_text([(padded, "x")], name)
    assert form
    results = {
        s: Result(s, GRADED, (), {"cells": []}, {name: Judged(SCORE, "", form=form.to_json())}) for s in ("ada", "bob")
    }

    def run(grader, tell):
        grader.class_list = desk.class_list
        return results

    for student in results:
        desk.hand_in(student)
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(command.Grader, "run", run)
    assert main(["grade", WHY, "--unsafe"]) == 0
    assert "2 answers are alike, or the library's or course's, in an exercise" in capsys.readouterr().out
    assert main(["grade", WHY, "--unsafe", "--alike"]) == 0
    said = capsys.readouterr().out
    assert f"why_parallel.{name}:\n  ada and bob: the same, names and comments aside\n" in said
    assert main(["grade", WHY, "--unsafe", "--alike", "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["alike"]
    assert group == {"exercise": f"why_parallel.{name}", "students": ["ada", "bob"], "published": [], "share": 1.0}
