"""``lockstep grade --lms``: a class as Moodle or Canvas has exported it, and the file that they import."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from writing import LAB, Desk

from lockstep.cli import USAGE, main
from lockstep.errors import UsageError
from lockstep.grading.lms_grades import Grade, LmsGrades, grades
from lockstep.grading.lms_list import CANVAS, MOODLE, matched, read_lms_list

CLASS = (  # as Canvas exports it, with a byte-order mark, custom columns, and rows that are nobody's
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Notes,00_why_parallel (77),Essay (78),Final Score\n"
    ",,,,,,Manual Posting,,\n"
    "    Points Possible,,,,,,14,100,(read only)\n"
    '"Lovelace, Ada",1001,S-1,ada,Lab A and Lab B,likes engines,,95,95\n'
    '"Müller, Jörg ""JJ""",1002,S-2,jörg,Lab A,,3,12,12\n'
    '"=HYPERLINK(""http://x"")",1003,S-3,eve,Lab A,,,,\n'
    '"Nobody, New",1004,S-4,newton,Lab A,,7,,\n'
    '"Student, Test",1005,,5f2a,Lab A,,,,\n'
)


def text_file(at: Path, text: str, encoding: str = "utf-8") -> Path:
    at.write_bytes(text.encode(encoding))
    return at


def written(at: Path, kind: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO((at / f"{LAB}.{kind}.csv").read_text(encoding="utf-8"), newline="")))


def grade(points: float, feedback: str = "one 1 of 2.") -> Grade:
    return Grade(points, 14.0, feedback)


def column(tmp_path: Path, text: str, students: list[str], title: str = "", names: str = "") -> LmsGrades:
    lms = read_lms_list(text_file(tmp_path / "class.csv", text))
    return LmsGrades(lms, matched(lms, students, names), LAB, title)


def test_canvas_gets_its_own_columns_its_points_possible_and_only_rows_with_a_grade(tmp_path):
    students = ["ada", "jo\u0308rg", "eve", "zoe"]  # one umlaut as two characters
    told = column(tmp_path, CLASS, students).write({s: grade(3.456) for s in students}, tmp_path)
    assert written(tmp_path, CANVAS) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "00_why_parallel (77)"],
        ["    Points Possible", "", "", "", "", "14"],
        ["Lovelace, Ada", "1001", "S-1", "ada", "Lab A and Lab B", "3.46"],
        ['Müller, Jörg "JJ"', "1002", "S-2", "jörg", "Lab A", "3.46"],
        ['\'=HYPERLINK("http://x")', "1003", "S-3", "eve", "Lab A", "3.46"],
    ]
    assert told[0].startswith(f"3 of 4 grades are in grading/{LAB}.canvas.csv")
    assert "by the column SIS Login ID" in told[0]
    assert told[1].startswith("zoe: graded, and in no row of class.csv")
    assert told[2].startswith("Nobody, New and Student, Test: in class.csv, and nothing was handed in")
    assert len(told) == 3


def test_who_has_no_grade_keeps_the_one_in_the_lms(tmp_path):
    """Both importers take an empty cell for "no grade", and delete what is there: newton has 7 in Canvas."""
    column(tmp_path, CLASS, ["ada", "newton"]).write({"ada": grade(0.0)}, tmp_path)
    assert [row[-1] for row in written(tmp_path, CANVAS)[2:]] == ["0"]
    assert not any("newton" in row for row in written(tmp_path, CANVAS))


def test_points_possible_of_canvas_stay_and_a_difference_is_said(tmp_path):
    told = column(tmp_path, CLASS, ["ada"], "Essay").write({"ada": grade(2.0)}, tmp_path)
    assert [row[-1] for row in written(tmp_path, CANVAS)] == ["Essay (78)", "100", "2"]
    assert told[-1] == "Essay (78) has 100 points possible in Canvas, and the lab has 14. Set it there."


def test_an_assignment_that_canvas_has_not_is_new_and_has_the_labs_maximum(tmp_path):
    told = column(tmp_path, CLASS.replace("00_why_parallel", "Quiz"), ["ada"]).write({"ada": grade(2.0)}, tmp_path)
    assert [row[-1] for row in written(tmp_path, CANVAS)] == [LAB, "14", "2"]
    assert told[-1].startswith(f"class.csv has no column {LAB}: Canvas will make one")


def test_names_in_two_columns_and_semicolons_are_canvas_too(tmp_path):
    header = "LastName;FirstName;ID;SIS User ID;SIS Login ID;Section;X (1)"
    text = f"{header}\n    Points Possible;;;;;;2,5\nLovelace;Ada;9;S;ada;A;"
    column(tmp_path, text, ["ada"], "X").write({"ada": grade(2.5)}, tmp_path)
    assert written(tmp_path, CANVAS)[2] == ["Lovelace", "Ada", "9", "S", "ada", "A", "2.5"]
    assert written(tmp_path, CANVAS)[1][-1] == "2,5"


MOODLES = (  # its headings are in the teacher's language, and mean nothing to us
    "Vorname;Nachname;ID-Nummer;E-Mail-Adresse;00_why_parallel;Anderes (Punkte)\n"
    "Ada;Lovelace;=1+1;ada@uni.example;-;5\n"
    'Jörg;"Müller; ""JJ""";+49 1;joerg@uni.example;3,50;-\n'
    "Eve;-1;7;eve@uni.example;-;-\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_moodle_gets_grade_and_feedback_together_and_no_old_grades(encoding, tmp_path):
    lms = read_lms_list(text_file(tmp_path / "m.csv", MOODLES, encoding))
    given = {"ada": grade(1.0, '<b>"two", umlauts: ä</b>'), "joerg": grade(0.5, "=no formula")}
    told = LmsGrades(lms, matched(lms, list(given)), LAB).write(given, tmp_path)
    assert written(tmp_path, MOODLE) == [
        ["E-Mail-Adresse", LAB, f"{LAB} (feedback)"],
        ["ada@uni.example", "1", '&lt;b&gt;"two", umlauts: ä&lt;/b&gt;'],
        ["joerg@uni.example", "0.5", "'=no formula"],
    ]
    assert "by the column E-Mail-Adresse" in told[0]
    assert "Moodle" in told[0]


def test_a_persons_columns_come_along_and_no_formula_does(tmp_path):
    text = "First name,Username,Score\n=cmd(),ada,1\n@SUM(A1),+eve,2\n-5,bob,3\n"
    told = column(tmp_path, text, ["ada", "+eve", "bob"], names="Username").write(
        {s: grade(1.0) for s in ("ada", "+eve", "bob")}, tmp_path
    )
    assert [row[:2] for row in written(tmp_path, MOODLE)[1:]] == [["'=cmd()", "ada"], ["-5", "bob"]]
    assert told[1] == "+eve: what the LMS knows them by looks like a formula. Enter it by hand."


def test_what_fits_two_rows_fits_none(tmp_path):
    text = "Email address,X\nada@a.example,\nada@b.example,\nbob@a.example,\nEve@a.example,\n"
    students = ["ada", "bob", "eve", "EVE"]
    told = column(tmp_path, text, students).write({s: grade(1.0) for s in students}, tmp_path)
    assert [row[0] for row in written(tmp_path, MOODLE)[1:]] == ["bob@a.example"]
    assert told[1].startswith("EVE, ada and eve: graded, and it is not clear which row of class.csv is whose")


def test_an_address_goes_before_the_part_before_its_at(tmp_path):
    """ada@b.example handed in under the whole address; the other ada has the same part before the @."""
    text = "Email address,X\nada@a.example,\nada@b.example,\n"
    found = matched(read_lms_list(text_file(tmp_path / "c.csv", text)), ["ada@b.example"])
    assert found.rows == {"ada@b.example": ("ada@b.example", "")}


def test_columns_that_disagree_are_not_chosen_from(tmp_path):
    lms = read_lms_list(text_file(tmp_path / "c.csv", "Login,Nick\nada,bob\nbob,ada\n"))
    with pytest.raises(UsageError, match="the columns Login and Nick name different learners"):
        matched(lms, ["ada", "bob"])
    assert matched(lms, ["ada"], "Nick").rows == {"ada": ("bob", "ada")}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "lists nobody"),
        (b"Email address,X\n", "lists nobody"),
        (b"Name,X\nJ\xf6rg,1\n", "is no text in UTF-8"),
        (b"PK\x03\x04\x00\x00spreadsheet", "is no text in UTF-8"),
        (b'Name,X\n"ada,1\n', "is no CSV: unexpected end of data"),
        (b'Name,X\n"ada"b,1\n', "is no CSV: ',' expected after"),
        (b"Name,X\nada,1,2,3\n", "has 4 cells in line 2, and 2 in its header"),
        (b"Name,X,X\nada,1,2\n", "has two columns named X"),
        (b"Name,X\nbob,1\n", "no row has the name of anybody who has handed in"),
    ],
)
def test_what_is_no_list_is_told_in_one_sentence(raw, said, tmp_path):
    (tmp_path / "c.csv").write_bytes(raw)
    with pytest.raises(UsageError) as told:
        matched(read_lms_list(tmp_path / "c.csv"), ["ada"])
    assert said in told.value.message
    assert "\n" not in told.value.message


@pytest.mark.parametrize(
    ("text", "title", "said"),
    [
        (CLASS, "Exam", "has no column Exam"),
        (CLASS.replace("Essay (78)", "00_why_parallel (78)"), "", "has several columns for 00_why_parallel"),
        (CLASS, "Final Score", "Canvas takes no grades for Final Score"),
        (CLASS, "ID", "has no column ID"),
    ],
)
def test_a_column_that_takes_no_grades_is_told_before_anything_is_graded(text, title, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        column(tmp_path, text, ["ada"], title)


def test_the_grade_is_the_gradebooks_with_what_was_done_by_hand_and_what_lateness_costs(tmp_path):
    desk = Desk(tmp_path)
    desk.book.begin(desk.release)
    for student in ("ada", "bob"):
        desk.hand_in(student)
    desk.hand_in("eve", "oops")
    results = {s: desk.writer.write(desk.graded(s)) for s in ("ada", "bob", "eve")}
    before = desk.book.scores(["ada", "bob", "eve", "nobody"])
    assert before.keys() == {"ada", "bob"}
    with Gradebook(f"sqlite:///{desk.book.file}", "lockstep") as book:
        notebook = book.find_submission(LAB, "ada").notebooks[0]
        notebook.grades[0].manual_score = notebook.grades[0].auto_score + 0.25
        book.find_submission(LAB, "bob").notebooks[0].late_submission_penalty = 1000.0
        book.db.commit()
    given = grades(results, desk.book.scores(["ada", "bob", "eve"]), {"bob": "30.50"})
    assert given.keys() == {"ada", "bob"}, "eve has no grade, and that is no zero"
    assert given["ada"].points == before["ada"][0] + 0.25
    assert given["bob"].points == 0
    assert "The checks gave" in given["ada"].feedback
    assert "Handed in 30.50 hours late." in given["bob"].feedback
    assert given["ada"].maximum == before["ada"][1]


def test_the_command_says_what_is_wrong_with_the_list_before_it_grades(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    assert main(["grade", LAB, "--unsafe", "--lms", str(tmp_path / "none.csv")]) == USAGE
    assert "none.csv could not be read: No such file or directory." in capsys.readouterr().err
    assert main(["grade", LAB, "--unsafe", "--lms-column", "X"]) == USAGE
    assert "are about the file of --lms" in capsys.readouterr().err


def test_the_command_writes_the_file_beside_the_table(tmp_path, monkeypatch, capsys):
    from lockstep.bench.grade import made

    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    course = made(tmp_path / "course", LAB, 2)
    monkeypatch.chdir(course)
    text_file(tmp_path / "class.csv", CLASS.replace(",ada,", ",student00,").replace(",jörg,", ",student01,"))
    assert main(["grade", LAB, "--unsafe", "--json", "--lms", str(tmp_path / "class.csv")]) == 0
    told = json.loads(capsys.readouterr().out)
    points = {one["student"]: one["points"] for one in told["submissions"]}
    rows = {row[3]: float(row[-1]) for row in written(course / "grading", CANVAS)[2:]}
    assert rows == points
    assert any(line.startswith("2 of 2 grades are in grading/") for line in told["told"])
