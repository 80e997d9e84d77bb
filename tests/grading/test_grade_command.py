"""``lockstep grade`` where there is nothing to grade, and what it writes for a spreadsheet."""

from __future__ import annotations

import csv
import json

import pytest

from lockstep.cli import USAGE, main
from lockstep.grading.class_list import ClassList, told
from lockstep.grading.grade_submission import Judged, Result
from lockstep.grading.submission import GRADED, NOT_GRADED, WRONG_FORMAT

LAB = "00_why_parallel"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "99_nothing"], "There is no lab '99_nothing'"),
        (["grade", LAB, "--jobs", "0"], "--jobs 0 is no number of submissions"),
        (["grade", LAB, "--unsafe", "--student", "nobody"], "nobody has not handed in 00_why_parallel"),
    ],
)
def test_misuse_is_told_in_one_sentence(arguments, said, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    assert main(arguments) == USAGE
    assert said in capsys.readouterr().err


def test_a_sandbox_and_none_exclude_each_other(capsys):
    with pytest.raises(SystemExit) as end:
        main(["grade", LAB, "--unsafe", "--sandbox", "fork"])
    assert end.value.code == USAGE
    assert "--sandbox: not allowed with argument --unsafe" in capsys.readouterr().err


def result(student: str, points: float, status: str = GRADED, notes: tuple[str, ...] = ()) -> Result:
    score = {"points": points, "maximum": 2.0, "verdict": "wrong", "findings": []}
    tests = {"nbgrader": {"grade_id": "tests-one", "grade": True}}
    notebook = {"cells": [{"cell_type": "code", "metadata": tests, "source": ""}]}
    return Result(student, status, notes, notebook, {"one": Judged(score, "")})


def test_the_table_has_no_zero_for_what_could_not_be_graded_and_no_formula(tmp_path):
    (tmp_path / "grading").mkdir()
    class_list = ClassList(tmp_path, LAB, "secret")
    results = [
        result("ada", 1.5),
        result("=cmd()", 0.0, notes=("\x1b[2Jnote",)),
        result("bob", 0.0, NOT_GRADED),
        Result("eve", WRONG_FORMAT, ["It is empty."]),
    ]
    with class_list.write_table(
        {r.student: r for r in results}, ["one", "two"], ["one"], {"ada": "1.50"}
    ).open() as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["ada"]["points"], rows["ada"]["maximum"], rows["ada"]["one"]) == ("1.5", "2", "1.5")
    assert rows["'=cmd()"]["points"] == "0"
    assert "\x1b" not in rows["'=cmd()"]["notes"]
    assert (rows["bob"]["points"], rows["bob"]["one"], rows["eve"]["points"]) == ("", "", "")
    assert list(rows["ada"]) == ["student", "status", "points", "maximum", "one", "two (extra)", "hours late", "notes"]
    assert [rows[s]["hours late"] for s in ("ada", "bob")] == ["1.50", ""]
    assert told(results[0]) == "ada: 1.5 of 2, graded"
    assert told(results[3]) == "eve: wrong format. It is empty."


def test_a_result_holds_for_the_same_files_alone(tmp_path):
    class_list = ClassList(tmp_path, LAB, "secret")
    class_list.folder("ada").mkdir(parents=True)
    (class_list.folder("ada") / "lab.ipynb").write_text("1")
    class_list.keep(result("ada", 1.0))
    assert class_list.result("ada").to_json() == json.loads(json.dumps(result("ada", 1.0).to_json()))
    assert ClassList(tmp_path, LAB, "another").result("ada") is None
    (class_list.folder("ada") / "lab.ipynb").write_text("2")
    assert class_list.result("ada") is None
