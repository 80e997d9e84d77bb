"""What a teacher must know after a run, one sentence each: who has no grade, what could not be written, who is late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lockstep.checks.wording import listed, printable
from lockstep.grading.atomic_write import Unwritten
from lockstep.grading.class_list import SECRET, TIMESTAMP, UNKNOWN, ClassList
from lockstep.grading.grade_submission import Result
from lockstep.grading.submission import WRONG_FORMAT

SHOWN = 6  # students in a sentence


def run_summary(
    results: Mapping[str, Result],
    class_list: ClassList,
    unwritten: Mapping[str, Unwritten],
    untold: Unwritten | None,
    late: Mapping[str, str],
) -> list[str]:
    """The last lines of a run. ``unwritten``: errors of writing, by student; ``untold``: why there is no new table."""
    told = [*_of_students(results, class_list, late)]
    if unwritten:
        told.append(f"{some(sorted(unwritten))}: not written down. {_why(unwritten)}")
    if untold:
        told.append(_one_line(untold))
    return [printable(line) for line in told]


def _of_students(results: Mapping[str, Result], class_list: ClassList, late: Mapping[str, str]) -> Iterator[str]:
    everyone = sorted(results)
    for name in class_list.misnamed():
        yield (
            f"{name!a}, a folder in grading/submitted, was not graded: its name has what is no visible character. Give "
            "it the student's name, and run it again."
        )
    for student in everyone:
        if before := results[student].taken_back:
            yield (
                f"{student} had {before} points, and has handed in again what cannot be read: these points are out of "
                "the gradebook, and `nbgrader export` writes 0."
            )
    if none := [s for s in everyone if results[s].status == WRONG_FORMAT and not results[s].taken_back]:
        yield f"{some(none)}: no grade, for nothing could be read. `nbgrader export` writes 0 for whoever has none."
    if behind := [s for s in everyone if late.get(s) not in (None, "", UNKNOWN)]:
        yield f"{some(behind)}: handed in late. The table says by how many hours."
    if timeless := [s for s in everyone if late.get(s) == UNKNOWN]:
        yield f"{some(timeless)}: handed in without {TIMESTAMP}, so that nobody knows whether in time."
    if strangers := [s for s in everyone if SECRET not in class_list.receipt(s)]:
        yield (
            f"{some(strangers)}: the feedback is in grading/feedback/STUDENT/{class_list.lab}/lab.html, for you to "
            "send. `nbgrader fetch_feedback` does not find it: the submissions have no "
            f"{SECRET} of nbgrader's exchange."
        )


def _why(unwritten: Mapping[str, Unwritten]) -> str:
    """Each reason once."""
    return " ".join(dict.fromkeys(_one_line(error) for error in unwritten.values()))


def _one_line(error: Unwritten) -> str:
    return str(error).replace("\n", " ")


def some(students: Sequence[str]) -> str:
    """As in "ada, bob and 3 more"."""
    left = len(students) - SHOWN
    return listed([*students[:SHOWN], *([f"{left} more"] if left > 0 else [])])
