"""A disk that is full costs nothing but time: one sentence, the class goes on, and what was found is written later."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from writing import LAB, Desk, Disk

from lockstep.bench.grade import POINTS, made
from lockstep.cli import UNAVAILABLE, main
from lockstep.cli import grade as command
from lockstep.errors import WorldUnavailable
from lockstep.grading import temporary_folder
from lockstep.grading.atomic_write import Unwritten, write_atomically
from lockstep.grading.feedback import counted
from lockstep.grading.grade_class import Grader
from lockstep.grading.run_summary import run_summary

PAGE = "x" * 400_000  # characters of a learner's page


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[Path, str], Disk]]:
    made: list[Disk] = []

    def mounted(at: Path, size: str) -> Disk:
        at.mkdir(parents=True, exist_ok=True)
        try:
            made.append(Disk(at, size))
        except OSError as error:
            pytest.skip(f"no disk of its own for this test, which needs root: {error}")
        return made[-1]

    yield mounted
    for one in made:
        one.unmount()


def fill(file: Path) -> None:
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as opened:
        while opened.write(bytes(1 << 12)):
            pass


def test_the_class_goes_on_and_what_had_no_room_is_written_as_soon_as_there_is_some(tmp_path, disk):
    """The first write that found no room ended the run with nbgrader's traceback, and the rest of the class with it."""
    of_grading = disk(tmp_path / "grading", "8m")
    desk = Desk(tmp_path)
    for student in ("ada", "bob", "cyd"):
        desk.hand_in(student)
    desk.book.begin(desk.release)
    desk.writer.write(desk.graded("ada"))
    fill(tmp_path / "grading" / "filler")
    desk.writer.write(desk.graded("bob", 0.5, PAGE))
    assert set(desk.writer.unwritten) == {"bob"}
    (line,) = run_summary({"bob": desk.graded("bob")}, desk.class_list, desk.writer.unwritten, None, {})
    assert line.startswith("bob: not written down. ")
    assert "could not be written: No space left on device. Make room on its disk. Nothing is lost" in line
    assert "\n" not in line
    assert desk.grades().keys() == {"ada"}, "what was there still is"
    of_grading.resize("30m")
    desk.writer.write(desk.graded("cyd"))
    assert not desk.writer.unwritten
    count = len(counted(desk.release))
    assert desk.grades() == {"ada": 1.0 * count, "bob": 0.5 * count, "cyd": 1.0 * count}
    assert not [p for p in (tmp_path / "grading").rglob(".*") if p.is_file()], "nothing half written lies about"


def test_a_gradebook_that_has_no_room_is_told_in_one_sentence_and_keeps_what_it_has(tmp_path, disk, capfd):
    """SQLAlchemy's error came through, and nbgrader logged another traceback of its own."""
    desk = Desk(tmp_path)
    for student in ("ada", "bob"):
        desk.hand_in(student)
    desk.book.begin(desk.release)
    desk.writer.write(desk.graded("ada"))
    small = disk(tmp_path / "small", "1m")
    (tmp_path / "small" / "gradebook.db").write_bytes(desk.book.file.read_bytes())
    desk.book.file = tmp_path / "small" / "gradebook.db"
    (tmp_path / "small" / "filler").write_bytes(bytes((1 << 20) - desk.book.file.stat().st_size - (1 << 14)))
    desk.writer.write(desk.graded("bob"))
    assert "there is no room for it on its disk" in str(desk.writer.unwritten["bob"])
    assert desk.class_list.result("bob"), "kept: it need not be judged once more"
    small.resize("4m")
    desk.writer.write_what_is_held()
    assert desk.grades().keys() == {"ada", "bob"}
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


def test_a_new_gradebook_is_there_whole_or_not_at_all(tmp_path, disk):
    """nbgrader takes one of which it had only made the tables for an old one, and refuses it for ever."""
    of_grading = disk(tmp_path / "grading", "64k")
    desk = Desk(tmp_path)
    with pytest.raises(Unwritten) as error:
        desk.book.begin(desk.release)
    assert "Make room on its disk" in str(error.value)
    assert not list((tmp_path / "grading").iterdir())
    of_grading.resize("8m")
    assert desk.book.begin(desk.release)


def test_a_file_is_as_it_was_where_the_new_one_has_no_room(tmp_path, disk):
    disk(tmp_path / "small", "16k")
    write_atomically(tmp_path / "small" / "page.html", "old")
    with pytest.raises(Unwritten, match="No space left"):
        write_atomically(tmp_path / "small" / "page.html", PAGE)
    assert [p.name for p in (tmp_path / "small").iterdir()] == ["page.html"]
    assert (tmp_path / "small" / "page.html").read_text() == "old"


def test_judges_without_room_in_tmp_work_in_memory_or_say_so(tmp_path, disk, monkeypatch):
    """A full /tmp ended one judge after the other: "whoever judged it has ended", for each student."""
    disk(tmp_path / "full", "64k")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "full"))
    with temporary_folder.temporary_folder() as folder:
        assert folder.parent == Path("/dev/shm")
    assert not folder.exists()
    monkeypatch.setattr(temporary_folder, "MEMORY", str(tmp_path / "full"))
    with pytest.raises(WorldUnavailable, match="There is no room for the files of judges"):
        temporary_folder.temporary_folder().__enter__()
    assert not list((tmp_path / "full").iterdir())


def test_what_is_printed_onto_a_full_disk_ends_in_one_sentence(tmp_path, disk):
    """``lockstep units --json > FILE`` on a full disk ended in two tracebacks."""
    disk(tmp_path / "small", "4k")
    with (tmp_path / "small" / "units.json").open("w") as file:
        done = subprocess.run(
            [sys.executable, "-m", "lockstep", "units", "--json"], stdout=file, stderr=subprocess.PIPE, text=True,
            check=False, timeout=120,
        )  # fmt: skip
    assert (done.returncode, len(done.stderr.splitlines())) == (UNAVAILABLE, 2)
    assert done.stderr.startswith("lockstep: There is no room on the disk that this command writes to.")


def test_the_command_says_what_is_not_written_and_is_not_done(tmp_path, monkeypatch, capsys):
    desk = Desk(tmp_path)
    desk.hand_in("ada")
    found = {"ada": desk.graded("ada")}

    def run(grader: Grader, tell: Callable[..., None]) -> dict:
        grader.class_list, grader.unwritten = desk.class_list, {"ada": Unwritten("The book could not.", "Make room.")}
        tell(found["ada"], 1, 1, 0.0)
        return found

    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(command.Grader, "run", run)
    assert main(["grade", LAB, "--unsafe"]) == 1
    first, summary, last = capsys.readouterr().out.splitlines()
    assert first.endswith("not written yet: The book could not. It is tried again after each result")
    assert summary.startswith("1 of 1 have a result")
    assert last == "ada: not written down. The book could not. Make room."
    assert main(["grade", LAB, "--unsafe", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["told"], told["submissions"][0]["written"]) == ([last], False)


@pytest.mark.slow
def test_a_class_on_a_full_disk_is_graded_as_far_as_there_is_room_and_the_rest_by_the_next_run(tmp_path, disk):
    course = tmp_path / "course"
    small = disk(course / "grading", "4m")
    made(course, LAB, 3)
    environment = os.environ | {"LOCKSTEP_HOME": str(tmp_path / "home"), "LOCKSTEP_SEED": "a secret"}

    def grade() -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "lockstep", "grade", LAB, "--unsafe"], cwd=course, env=environment, timeout=250,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stdout
        return done.returncode, done.stdout

    fill(course / "grading" / "filler")
    code, said = grade()
    assert (code, len(said.splitlines())) == (1, 2), said
    assert "gradebook.db could not be written: " in said
    assert "Make room on its disk." in said
    os.truncate(course / "grading" / "filler", (course / "grading" / "filler").stat().st_size - (400 << 10))
    code, said = grade()
    assert code == 1, said
    assert "3 of 3 have a result" in said
    assert "not written down. " in said
    small.resize("30m")
    code, said = grade()
    assert code == 0, said
    with (course / "grading" / f"{LAB}.csv").open() as file:
        assert [row["points"] for row in csv.DictReader(file)] == ["10"] * 3
    with sqlite3.connect(course / "grading" / "gradebook.db") as book:
        assert list(book.execute(POINTS)) == [(f"student0{n}", 10.0) for n in range(3)]
