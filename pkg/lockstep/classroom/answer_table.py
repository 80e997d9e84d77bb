"""The answers of a class as CSV: a row for each learner, a column for each question, a letter or "-" in each.

learner,1,2,3,4,5,6,7,8,9,10,11,12
3f9a1c07,b,a,c,-,d,…
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from lockstep.classroom.inventory import LETTERS, NONE
from lockstep.classroom.journal import replayed
from lockstep.classroom.learners import Course, Learners
from lockstep.errors import UsageError
from lockstep.reports.report import FORMS, QUESTIONS

HEAD = ["learner", *map(str, range(1, QUESTIONS + 1))]


def read(path: Path) -> dict[str, str]:
    """By learner, the twelve letters. Raises UsageError for a file that says something else, with the line."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is no CSV"
        raise UsageError(f"{path} cannot be read: {why}.", "Name two files that --export has written.") from None
    if not rows or rows[0] != HEAD:
        raise UsageError(
            f"{path} does not begin with {','.join(HEAD[:3])},….", "Take a file that --export has written."
        )
    found: dict[str, str] = {}
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        learner, letters = row[0].strip(), [cell.strip().lower() or NONE for cell in row[1:]]
        if len(letters) != QUESTIONS or any(letter not in (*LETTERS, NONE) for letter in letters) or not learner:
            wanted = f"a learner and {QUESTIONS} letters from a to d, or {NONE}"
            raise UsageError(f"{path}, line {line}: this is not {wanted}.", "Mend or delete this line.")
        if learner in found:
            raise UsageError(f"{path}, line {line}: {learner} stands there twice.", "Keep the first answers.")
        found[learner] = "".join(letters)
    return found


def write(path: Path, answers: Mapping[str, str]) -> None:
    """Raises UsageError where it cannot be written."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *([who, *answers[who]] for who in sorted(answers))])
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "Name another place.") from None


def export(kept: Path, into: Path) -> Iterator[tuple[Path, int]]:
    """Write before.csv and after.csv of a board's file, which may be in use; each path, and how many are in it."""
    learners = Learners(Course.here())
    replayed(kept, learners)
    into.mkdir(parents=True, exist_ok=True)
    for form in FORMS:
        found = {id: learner.answers[form] for id, learner in learners.by_id.items() if form in learner.answers}
        path = into / f"{form}.csv"
        write(path, {_code(id): letters for id, letters in found.items()})
        yield path, len(found)


def _code(id: str) -> str:
    """Of somebody who has answered on the board's page, the code that they know."""
    return id.removeprefix("0" * 24)
