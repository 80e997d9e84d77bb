"""docs/timetable.md, row by row, against the lessons and the exercises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from lockstep.checks import exercises, find
from lockstep.grading.course import UNITS

pytestmark = pytest.mark.reads("docs/", "course/", "pkg/lockstep/exercises/")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "timetable.md").read_text(encoding="utf-8")
LONGEST = 6 * 60  # minutes of a day of the week
OF_UNIT = re.compile(r"(\d\d), (whole lesson|short path|lab)$")
OF_EXERCISE = re.compile(r"`(\w+\.\w+)`")


class Row(NamedTuple):
    when: str
    minutes: str
    counted: str
    what: str


def rows(section: str) -> Iterator[Row]:
    _, _, text = PAGE.partition(f"## {section}\n")
    for line in text.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and not set(cells[0]) <= {":", "-"} and cells[0] not in ("at", "day", "week"):
            yield Row(*cells[:4])


def table_of(number: int) -> dict[str, int]:
    """The minutes in a lesson's first cell."""
    folder = UNITS[number].folder
    cells = json.loads((ROOT / "course" / folder / "lesson.ipynb").read_text(encoding="utf-8"))["cells"]
    found = re.findall(
        r"\| (?:\[)?(Whole lesson|Short path|Lab)(?:\]\([^)]*\))? \| (\d+) \|", "".join(cells[0]["source"])
    )
    return {name.lower(): int(minutes) for name, minutes in found}


def core(number: int, is_core: bool = True) -> list[int]:
    found = [find(one.id) for one in exercises() if one.topic == UNITS[number].topic]
    return [one.minutes for one in found if one.core is is_core]


def counted(what: str) -> int | None:
    if found := OF_UNIT.match(what):
        number, part = int(found[1]), found[2]
        return sum(core(number)) if part == "lab" else table_of(number)[part]
    named = OF_EXERCISE.match(what)
    return find(named[1]).minutes if named else None


@pytest.mark.parametrize("section", ["Half a day", "A day", "A week"])
def test_each_row_has_the_minutes_of_the_lesson_and_half_as_much_again(section):
    told = [row for row in rows(section) if row.what != "the end"]
    assert sum(row.counted != "" for row in told) > 3
    for row in told:
        assert row.counted == str(counted(row.what) or ""), row
        if row.counted:
            assert int(row.minutes) == math.ceil(int(row.counted) * 1.5 / 5) * 5, row


@pytest.mark.parametrize(("section", "end"), [("Half a day", "13:00"), ("A day", "17:00")])
def test_the_clock_goes_on_by_the_minutes_of_each_row(section, end):
    told = list(rows(section))
    clock = [int(row.when[:2]) * 60 + int(row.when[3:]) for row in told]
    assert [later - now for now, later in pairwise(clock)] == [int(r.minutes) for r in told[:-1]]
    assert (told[0].when, told[-1].when) == ("09:00", end)


def test_no_day_of_the_week_is_too_long():
    days: dict[str, int] = {}
    for row in rows("A week"):
        days[row.when] = days.get(row.when, 0) + int(row.minutes)
    assert list(days) == ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    assert max(days.values()) <= LONGEST


def test_a_semester_has_each_unit_once_with_its_minutes():
    *weeks, total = [line.strip("|").split("|") for line in PAGE.splitlines() if re.match(r"\| (\d+)? ?\| ", line)]
    told = [[cell.strip() for cell in week] for week in weeks]
    wanted = []
    for unit in UNITS[:14]:
        minutes = (table_of(unit.number)["whole lesson"], sum(core(unit.number)), sum(core(unit.number, False)))
        wanted.append([str(unit.number + 1), f"{unit.number:02d} {unit.title}", *map(str, minutes)])
    assert told == wanted
    assert [int(cell) for cell in total[2:5]] == [sum(int(week[i]) for week in told) for i in (2, 3, 4)]


@pytest.mark.parametrize("number", range(14))
def test_a_lesson_names_the_minutes_and_the_number_of_its_labs_core_exercises(number):
    """Lesson 08 said 110 minutes and three exercises: a fourth had become a core exercise."""
    cells = json.loads((ROOT / "course" / UNITS[number].folder / "lesson.ipynb").read_text(encoding="utf-8"))["cells"]
    assert table_of(number)["lab"] == sum(core(number))
    words = ["no", "one", "two", "three", "four", "five", "six"]
    assert f"| {words[len(core(number))]} exercise" in "".join(cells[0]["source"])
