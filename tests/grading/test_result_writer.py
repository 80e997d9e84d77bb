"""What is written down of a class, and what its teacher is told in the last lines."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.utils import parse_utc
from writing import LAB, WHEN, Desk

from lockstep.grading.atomic_write import Unwritten
from lockstep.grading.class_list import SECRET, TIMESTAMP, UNKNOWN
from lockstep.grading.feedback import counted
from lockstep.grading.grade_submission import Result, names_of
from lockstep.grading.run_summary import run_summary


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """A gradebook that knows the lab, and nobody yet."""
    desk = Desk(tmp_path_factory.mktemp("begun"))
    desk.book.begin(desk.release)
    return desk.book.file


@pytest.fixture
def desk(begun: Path, tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.hand_in("ada")
    desk.hand_in("bob")
    shutil.copy(begun, desk.book.file)
    return desk


def told(desk: Desk, results: dict[str, Result], late: dict[str, str] | None = None) -> list[str]:
    return run_summary(results, desk.class_list, desk.writer.unwritten, None, late or {})


def test_a_grade_that_a_broken_second_hand_in_takes_back_is_told_every_time(desk):
    """It went back to 0 in ``nbgrader export``, and nobody was told."""
    whole = "5 of 10"
    desk.writer.write(desk.graded("bob"))
    desk.hand_in("bob", "oops")
    found = desk.writer.write(desk.graded("bob"))
    assert (found.taken_back, desk.grades()) == (whole, {})
    line = (
        f"bob had {whole} points, and has handed in again what cannot be read: these points are out of the gradebook, "
        "and `nbgrader export` writes 0."
    )
    assert told(desk, {"bob": found}) == [line]
    note = f"What was handed in before had {whole} points: they do not count while the last one cannot be read."
    table = desk.class_list.write_table({"bob": found}, names_of(desk.release), [], {})
    assert note in table.read_text()
    assert note in desk.class_list.feedback("bob").read_text()
    kept = desk.class_list.result("bob")
    assert told(desk, {"bob": kept}) == [line], "a second run says it, too"
    desk.hand_in("bob", "oops again")
    found = desk.writer.write(desk.graded("bob"))
    assert told(desk, {"bob": found}) == [line], "and one after a third hand-in"
    desk.hand_in("bob")
    found = desk.writer.write(desk.graded("bob", 0.5))
    assert (found.taken_back, told(desk, {"bob": found})) == ("", [])
    assert desk.grades() == {"bob": 0.5 * len(counted(desk.release))}


def test_a_grader_that_was_killed_before_it_took_a_grade_back_leaves_it_to_the_next_to_tell(desk):
    desk.writer.write(desk.graded("bob"))
    desk.hand_in("bob", "oops")
    desk.class_list.keep(desk.graded("bob"))  # and no more
    found = desk.writer.write(desk.class_list.result("bob"), kept=True)
    assert found.taken_back
    assert desk.class_list.result("bob").taken_back == found.taken_back


def test_who_has_no_grade_is_told_with_what_nbgrader_makes_of_it(desk):
    desk.hand_in("bob", "oops")
    results = {"ada": desk.writer.write(desk.graded("ada")), "bob": desk.writer.write(desk.graded("bob"))}
    (line,) = told(desk, results)
    assert line.startswith("bob: no grade, for nothing could be read. `nbgrader export` writes 0")


def test_late_is_in_the_table_and_in_the_last_lines(desk):
    """The gradebook knew, and the table for the LMS did not."""
    desk.hand_in("cyd", receipts={SECRET: "secret"})
    results = {s: desk.writer.write(desk.graded(s)) for s in ("ada", "bob", "cyd")}
    assert desk.class_list.late(list(results), desk.book.due(list(results))) == dict.fromkeys(results, "")
    desk.set_due(parse_utc(WHEN) - timedelta(hours=26))
    desk.give_longer("bob", days=2)
    late = desk.class_list.late(list(results), desk.book.due(list(results)))
    assert late == {"ada": "26.00", "bob": "", "cyd": UNKNOWN}
    with desk.class_list.write_table(results, names_of(desk.release), [], late).open() as file:
        rows = {row["student"]: row["hours late"] for row in csv.DictReader(file)}
    assert rows == late
    assert told(desk, results, late) == [
        "ada: handed in late. The table says by how many hours.",
        "cyd: handed in without timestamp.txt, so that nobody knows whether in time.",
    ]


def test_a_second_late_is_late_and_a_date_that_is_none_is_unknown(desk):
    due = {s: parse_utc(WHEN) - timedelta(seconds=1) for s in ("ada", "bob")}
    (desk.class_list.folder("bob") / TIMESTAMP).write_text("yesterday, I think")
    assert desk.class_list.late(["ada", "bob", "cyd"], due) == {"ada": "0.01", "bob": UNKNOWN, "cyd": ""}
    assert desk.class_list.late(["ada"], {"ada": datetime(2026, 11, 26, 7)}) == {"ada": ""}


def test_a_page_has_beside_it_what_nbgrader_opens_for_every_page(desk):
    """It opens both files for each page that there is: one hand-in without them, by mail, say, and nobody got any
    feedback."""
    desk.hand_in("cyd", receipts={})
    results = {s: desk.writer.write(desk.graded(s)) for s in ("ada", "cyd")}
    beside = {s: desk.class_list.feedback(s).parent for s in results}
    assert (beside["ada"] / SECRET).read_text() == "secretada"
    assert (beside["ada"] / TIMESTAMP).read_text() == WHEN
    made_up = (beside["cyd"] / SECRET).read_text()
    assert len(made_up) == 64
    assert (beside["cyd"] / TIMESTAMP).read_text() == ""
    (line,) = told(desk, results)
    assert line.startswith(f"cyd: the feedback is in grading/feedback/STUDENT/{LAB}/lab.html, for you to send. ")
    assert line.endswith("the submissions have no submission_secret.txt of nbgrader's exchange.")
    autograded = desk.at / "grading" / "autograded" / "cyd" / LAB
    assert sorted(p.name for p in autograded.iterdir()) == ["lab.ipynb"], "the formgrader reads the date there"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("broken", [b"SQLite format 3\x00" + bytes(4000), b"no database " * 99], ids=["torn", "text"])
def test_a_gradebook_that_is_none_is_told_in_one_sentence_and_stays_as_it_is(desk, broken, capfd):
    desk.writer.write(desk.graded("ada"))
    desk.book.file.write_bytes(broken)
    with pytest.raises(Unwritten) as error:
        desk.book.begin(desk.release)
    assert "move it away" in str(error.value)
    assert desk.book.file.read_bytes() == broken
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err
    desk.book.file.unlink()
    assert desk.book.begin(desk.release), "and what is kept goes into a new one"
    desk.writer.write(desk.class_list.result("ada"), kept=True)
    assert desk.grades().keys() == {"ada"}


def test_a_gradebook_of_something_else_is_told(desk):
    desk.book.file.unlink()
    with sqlite3.connect(desk.book.file) as other:
        other.execute("create table assignment (name text)")
    with pytest.raises(Unwritten, match="nbgrader db upgrade"):
        desk.book.begin(desk.release)


def test_a_lab_that_has_other_cells_now_is_told_with_what_to_do(desk):
    """nbgrader refuses to add cells to what has been graded: with a traceback."""
    desk.writer.write(desk.graded("ada"))
    other = json.loads(json.dumps(desk.release))
    other["cells"] = [c for c in other["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") != "tests-amdahl"]
    with pytest.raises(Unwritten) as error:
        desk.book.begin(other)
    assert f"`nbgrader db assignment remove {LAB} --force`" in str(error.value)
    assert desk.grades().keys() == {"ada"}


def test_a_result_that_the_gradebook_refuses_stops_nobody_else(desk):
    refused = desk.writer.write(desk.graded("ada", 1000.0))
    desk.writer.write(desk.graded("bob"))
    assert (set(desk.writer.unwritten), desk.grades().keys()) == ({"ada"}, {"ada", "bob"})
    assert "partial credit cannot be greater" in told(desk, {"ada": refused})[0]


@pytest.mark.parametrize(
    "name", [b"\xff\xfe", b"eve\n2 of 2  bob: 0 of 10", b"\xe2\x80\xaeeve"], ids=["bytes", "lines", "turned"]
)
def test_a_folder_whose_name_is_no_students_is_told_and_stops_nobody(desk, name):
    """One whose bytes are no text ended ``--viva`` in a traceback; one with a line's end forged a line."""
    os.mkdir(os.path.join(bytes(desk.class_list.submitted), name))
    os.mkdir(os.path.join(bytes(desk.class_list.submitted), name, LAB.encode()))
    assert desk.class_list.students() == ["ada", "bob"]
    (line,) = told(desk, {})
    assert line.isprintable()
    assert "was not graded: its name has what is no visible character" in line
