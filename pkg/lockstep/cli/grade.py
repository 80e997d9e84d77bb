"""``lockstep grade``: grade a class's submissions to a lab. Exit code 0 all graded, 1 not all, 3 no sandbox."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from lockstep.checks import find
from lockstep.checks.wording import printable
from lockstep.errors import UsageError
from lockstep.grading import class_list, similar_answers
from lockstep.grading.atomic_write import Unwritten
from lockstep.grading.class_answers import class_answers, left_out, table
from lockstep.grading.feedback import sums
from lockstep.grading.grade_class import Grader, Options
from lockstep.grading.grade_submission import Result, names_of
from lockstep.grading.gradebook import Book
from lockstep.grading.lms_grades import LmsGrades, grades
from lockstep.grading.lms_list import matched, read_lms_list
from lockstep.grading.run_summary import run_summary
from lockstep.grading.sandbox import BUBBLEWRAP
from lockstep.grading.sandbox_check import kind_of_sandbox
from lockstep.grading.viva import text, viva


def grade(args: argparse.Namespace) -> int:
    if args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs} is no number of submissions at a time.", "Write --jobs 2, say.")
    options = Options(args.jobs, tuple(args.student or ()), args.again, args.own_seeds)
    grader = Grader(args.lab, replace(options, sandbox="") if args.unsafe else options)
    if not args.unsafe:
        kind = kind_of_sandbox(args.sandbox)
        grader.options = replace(options, sandbox=kind)
        if kind == BUBBLEWRAP and not args.json:
            print("Each answer has a sandbox by bubblewrap, which takes some seconds to start.", flush=True)
    lms = _lms_grades(args, grader)
    results = grader.run(_quiet if args.json else partial(_line, grader))
    last = run_summary(results, grader.class_list, grader.unwritten, grader.untold, grader.late)
    unsent = lms is not None and not _write_lms_grades(lms, grader, results, last)
    names = names_of(grader.release)
    answers = class_answers(grader.topic, names, results) if args.answers else []
    groups = similar_answers.alike(grader.topic, names, results, grader.release, grader.solved())
    if args.json:
        data = {"lab": args.lab, "submissions": [_json(results[s], grader) for s in sorted(results)]}
        more: dict[str, object] = {"answers": [one.to_json() for one in answers]} if args.answers else {}
        more |= {"viva": [one.to_json() for one in viva(results)]} if args.viva else {}
        more |= {"alike": [group.to_json() for group in groups]} if args.alike else {}
        more |= {"told": last}
        print(json.dumps(data | more, indent=2))
    else:
        told = [table(answers, args.lab, left_out(results))] if args.answers else []
        messages = any(not find(f"{grader.topic}.{name}").pure for name in names)
        told += [text(viva(results), args.lab, messages)] if args.viva else []
        told += [similar_answers.text(groups, args.lab)] if args.alike else []
        print("\n\n".join(told) or _summary(results, grader))
        last += [] if args.alike else similar_answers.in_one_line(groups, args.lab)
        print("".join(f"{line}\n" for line in last), end="")
    left = any(not r.final for r in results.values()) or grader.class_list.misnamed()
    return int(bool(left or grader.unwritten or grader.untold or unsent))


def _lms_grades(args: argparse.Namespace, grader: Grader) -> LmsGrades | None:
    """The column of ``--lms``. What is wrong with its list is said before anything is graded."""
    if args.lms:
        lms = read_lms_list(Path(args.lms))
        found = matched(lms, grader.class_list.students(), args.lms_names)
        return LmsGrades(lms, found, args.lab, args.lms_column)
    if args.lms_names or args.lms_column:
        raise UsageError("--lms-names and --lms-column are about the file of --lms.", "Name it: --lms FILE.")
    return None


def _write_lms_grades(lms: LmsGrades, grader: Grader, results: Mapping[str, Result], last: list[str]) -> bool:
    """Whether the file could be written; what there is to say of it goes to ``last``."""
    written = {s: r for s, r in results.items() if s not in grader.unwritten}
    try:
        given = grades(written, Book(grader.root, grader.lab).scores(sorted(written)), grader.late)
        last += map(printable, lms.write(given, grader.root / "grading"))
    except Unwritten as error:
        last.append(printable(str(error).replace("\n", " ")))
        return False
    return True


def _line(grader: Grader, result: Result, done: int, of: int, left: float) -> None:
    time_left = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
    rest = f"; about {time_left} left" if done < of else ""
    held = ""
    if error := grader.unwritten.get(result.student):
        held = f"; not written yet: {printable(error.message)} It is tried again after each result"
    print(f"{done:>{len(str(of))}} of {of}  {class_list.told(result)}{held}{rest}", flush=True)


def _quiet(result: Result, done: int, of: int, left: float) -> None:
    """Nothing: the JSON comes at the end."""


def _json(result: Result, grader: Grader) -> dict[str, object]:
    points, maximum = sums(result)
    graded = result.final and bool(result.exercises)
    scores = {name: one.score for name, one in result.exercises.items()}
    return {
        "student": result.student,
        "status": result.status,
        "points": points if graded else None,
        "maximum": maximum if graded else None,
        "taken_back": result.taken_back,
        "hours_late": grader.late.get(result.student, ""),
        "written": result.student not in grader.unwritten,
        "notes": list(result.notes),
        "exercises": scores,
    }


def _summary(results: dict[str, Result], grader: Grader) -> str:
    left = [r for r in results.values() if not r.final]
    again = f" {len(left)} could not be graded: run it again." if left else ""
    table = "" if grader.untold else f": grading/{grader.lab}.csv"
    return f"{len(results) - len(left)} of {len(results)} have a result{table}.{again}"
