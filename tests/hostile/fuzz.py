"""Fuzzed files, given to the commands that read them: none hangs, none ends in a traceback, each is told in words.

    python tests/hostile/fuzz.py                240 of them: 80 answers, 80 notebooks, 80 files that a grader reads
    python tests/hostile/fuzz.py 24 --seed 7    24 others
    python tests/hostile/fuzz.py --only answer:17

The same number and seed make the same files, on every machine.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz_mutants import of_bytes, of_json, of_python
from fuzz_runs import Commands, Ended
from hostile_class import RIGHT, Class

from lockstep.checks import find
from lockstep.grading.course import root

ANSWERS = (
    "why_parallel.amdahl", "why_parallel.workers_needed", "why_parallel.fit_parallel_fraction",
    "scikit_learn.dynamic_assignment",
    "communication.ring_all_reduce", "communication.tree_broadcast", "communication.choose_algorithm",
)  # fmt: skip
LAB = "00_why_parallel"
POINTS = 3.0  # of who is right, in the small lab of a hostile class
A_NOTEBOOK = 60.0  # seconds at most
NAMES = (
    b"\xff\xfe",
    b"a b",
    b"-x",
    b"--student",
    b"=1+1",
    b"a\nb",
    b"\xe2\x80\xaeada",
    b"ada;",
    b"x" * 200,
    b"'",
    b"%s",
    b"{0}",
    b"\\",
)


@dataclass(frozen=True)
class Found:
    """What was wrong with one of them."""

    which: str  # "answer:17"
    fault: str
    told: str  # the end of what was said

    def __str__(self) -> str:
        return f"{self.which}: {self.fault}\n{self.told}"


class Fuzz:
    """``folder`` is for all that it makes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        for name in ("home", "tmp"):
            (folder / name).mkdir()
        environment = {"LOCKSTEP_HOME": str(folder / "home"), "LOCKSTEP_SEED": "fuzz", "TMPDIR": str(folder / "tmp")}
        self.commands = Commands(environment)
        self._graded: Path | None = None

    def draw(self, which: str) -> Random:
        return Random(f"{self.seed}/{which}")

    # ---- answers

    def answer(self, number: int) -> list[Found]:
        which = f"answer:{number}"
        draw, id = self.draw(which), ANSWERS[number % len(ANSWERS)]
        exercise = find(id)
        file = self.folder / f"answer_{number}{draw.choice(('.py', '.py', '.py', '.ipynb', '.txt'))}"
        text = draw.choice(sorted(exercise.right.glob("*.py")) or sorted(exercise.wrong.glob("*.py"))).read_text()
        if file.suffix == ".ipynb":
            cells = [{"cell_type": "code", "source": part, "metadata": {}} for part in ("import torch\n", text)]
            file.write_bytes(of_json({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, draw))
        else:
            file.write_bytes(of_python(text, draw))
        ended = self.commands.run(["check", id, str(file), *draw.choice(([], [], ["--json"]))], self.folder)
        return self._told(which, ended)

    # ---- notebooks: a class of them

    def notebooks(self, numbers: Sequence[int]) -> list[Found]:
        room = Class(self._empty("class"), LAB, [], grade=False)
        for number in numbers:
            draw = self.draw(f"notebook:{number}")
            room.folder(f"fuzz{number}").mkdir(parents=True)
            (room.folder(f"fuzz{number}") / "lab.ipynb").write_bytes(of_json(json.loads(json.dumps(room.solved)), draw))
        ended = self.commands.run(["grade", LAB, "--jobs", "2"], room.course, A_NOTEBOOK * (len(numbers) + 2))
        found = self._told("notebooks", ended)
        rows = _table(room.course)
        for student in RIGHT:
            if rows.get(student, {}).get("points") != f"{POINTS:g}":
                found.append(Found("notebooks", f"{student} lost points", str(rows.get(student))))
        for number in numbers:
            row = rows.get(f"fuzz{number}", {"status": "not in the table"})
            if row["status"] in ("not in the table", "could not be graded") or not (row["points"] or row["notes"]):
                found.append(Found(f"notebook:{number}", row["status"], str(row)))
        return found

    # ---- what else a grader reads

    def input(self, number: int) -> list[Found]:
        which = f"input:{number}"
        draw = self.draw(which)
        course = self._empty("course") / "course"
        shutil.copytree(self._a_graded_course(), course, symlinks=True)
        spoil = INPUTS[number % len(INPUTS)]
        spoil(course, draw)
        more = draw.choice(([], ["--json"], ["--again"], ["--answers", "--viva", "--alike"], ["--student", "ada"]))
        ended = self.commands.run(["grade", LAB, *more], course, 5 * A_NOTEBOOK)
        found = self._told(f"{which} ({spoil.__name__})", ended)
        zoe = _table(course).get("zoe", {"points": "", "status": "not in the table"})
        if not found and ended.code == 0 and zoe["points"] != f"{POINTS:g}":
            found.append(Found(which, f"{spoil.__name__}: zoe lost points", f"{zoe}\n{ended.said[-500:]}"))
        return found

    def _a_graded_course(self) -> Path:
        if self._graded is None:
            room = Class(self._empty("graded"), LAB, [], grade=False)
            for student in RIGHT:
                (room.folder(student) / "timestamp.txt").write_text("2026-11-26 07:00:00.000000 UTC")
                (room.folder(student) / "submission_secret.txt").write_text(f"secret{student}")
            ended = self.commands.run(["grade", LAB], room.course, 5 * A_NOTEBOOK)
            assert ended.code == 0, ended
            self._graded = room.course
        return self._graded

    def _empty(self, name: str) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / name).mkdir()
        return self.folder / name

    @staticmethod
    def _told(which: str, ended: Ended) -> list[Found]:
        fault = ended.fault()
        return [Found(which, fault, (ended.escaped or ended.said)[-1500:])] if fault else []


def _table(course: Path) -> dict[str, dict[str, str]]:
    try:
        with (course / "grading" / f"{LAB}.csv").open(newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}
    except (OSError, ValueError):
        return {}


# ---- ways to spoil what a grader reads


def _bytes_of(*parts: str) -> Callable[[Path, Random], None]:
    def spoiled(course: Path, draw: Random) -> None:
        file = course.joinpath(*parts)
        file.write_bytes(of_bytes(file.read_bytes(), draw))

    spoiled.__name__ = "/".join(parts)
    return spoiled


def _json_of(*parts: str) -> Callable[[Path, Random], None]:
    def spoiled(course: Path, draw: Random) -> None:
        file = course.joinpath(*parts)
        file.write_bytes(of_json(json.loads(file.read_bytes()), draw))

    spoiled.__name__ = "/".join(parts)
    return spoiled


def a_name(course: Path, draw: Random) -> None:
    """One who has handed in has a strange name."""
    name = draw.choice(NAMES)
    submitted = bytes(course / "grading" / "submitted")
    shutil.copytree(submitted + b"/ada", submitted + b"/" + name)


def another_kind(course: Path, draw: Random) -> None:
    """A folder where a file should be, a file where a folder should be, or nothing, or a link to itself."""
    places = (
        "gradebook.db", f"{LAB}.csv", "feedback", "feedback/ada", f"feedback/ada/{LAB}/lab.html", "autograded",
        "autograded/ada",
        f"results/{LAB}", f"results/{LAB}/ada.json", f"submitted/ada/{LAB}", f"submitted/ada/{LAB}/lab.ipynb",
        ".grading",
        f"submitted/ada/{LAB}/timestamp.txt", f"submitted/ada/{LAB}/submission_secret.txt",
    )  # fmt: skip
    path = course / "grading" / draw.choice(places)
    was_folder = path.is_dir()
    if was_folder:
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    match draw.randrange(3):
        case 0 if was_folder:
            path.write_text("a file")
        case 0:
            path.mkdir()
        case 1:
            path.symlink_to(path.name)


INPUTS = (
    _bytes_of("grading", "gradebook.db"),
    _json_of("grading", "results", LAB, "ada.json"),
    a_name,
    _bytes_of("grading", "submitted", "ada", LAB, "timestamp.txt"),
    another_kind,
    _bytes_of("grading", "submitted", "ada", LAB, "submission_secret.txt"),
    _json_of("labs", LAB, "lab.ipynb"),
    another_kind,
    _bytes_of("grading", "gradebook.db"),
    _json_of("solutions", LAB, "lab.ipynb"),
)


def fuzzed(fuzz: Fuzz, number: int) -> Iterator[Found]:
    """``number`` of them, a third of each kind."""
    third = number // 3
    for n in range(third):
        yield from fuzz.answer(n)
    yield from fuzz.notebooks(range(third))
    for n in range(third):
        yield from fuzz.input(n)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", nargs="?", type=int, default=240, help="of files; a third of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="KIND:NUMBER", help="answer, notebook or input")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        fuzz = Fuzz(Path(folder), args.seed)
        kind, _, one = (args.only or "").partition(":")
        kinds = {"answer": fuzz.answer, "notebook": lambda n: fuzz.notebooks([n]), "input": fuzz.input}
        found = []
        for fault in kinds[kind](int(one)) if kind else fuzzed(fuzz, args.number):
            print(fault, flush=True)
            found.append(fault)
        fuzz.commands.close()
    print(f"{1 if kind else args.number} fuzzed files, seed {args.seed}: {len(found)} faults.")
    return int(bool(found))


if __name__ == "__main__":
    assert root()
    sys.exit(main())
