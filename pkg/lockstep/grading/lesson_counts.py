"""A lesson's minutes, words, cells and lines, and their limits. Minutes are computed by one formula for all lessons.

A lesson follows the pattern if its headings give minutes: ``## 6. Title · {minutes} minutes · short path``. The build
puts the number in, there and in the table at the top. The weights are such that lessons 05, 08, 09, 11, 12 and 13 take
the 75, 60, 70, 70, 75 and 65 minutes that a careful reader took for them, within 15 per cent. What stands below a cell
takes time as well; whether it is a table or a figure, its source says: ``show.ring(…)``, ``result.show()``,
``dtypes_table()``. A figure with sliders or parts to drag is tried, not only looked at. And a sum in the text, such as
12 · h² / (32 · T), is worked out: each of its operations takes as long as some 45 words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lockstep.grading.lesson_parts import mark, stub
from lockstep.grading.text_notebook import Cell, Problem

HEADING = re.compile(r"^## (?P<title>.*?)(?: · (?P<minutes>\d+|\{minutes\}) minutes?)?(?P<short> · short path)?$", re.M)
PATH = re.compile(r"^\| (?P<path>Whole lesson|Short path) \| (?P<minutes>\d+|\{minutes\}) \|", re.M)  # at the top
MINUTES_HERE = "{minutes}"
EACH = {"predict": 2.0, "turn": 1.0, "quiz": 1.0}  # minutes, besides reading
WORDS_A_MINUTE, LINES_A_MINUTE = 180, 5
OPERATION = 0.25  # minutes
SEEN = {  # minutes of what a cell shows, by the call that shows it
    "board": (10.0, re.compile(r"\bshow\.board\(")),
    "tried": (4.0, re.compile(r"\bshow\.(?:axes_on_links|costs|plan|roofline)\(")),  # it has controls of its own
    "figure": (
        1.0,
        re.compile(
            r"\bshow\.(?!board|progress|(?:axes_on_links|costs|plan|roofline)\()\w+\(|\.show\(\)|\bfigure_\w+\("
        ),
    ),
    "source": (3.0, re.compile(r"\bgetsource\(")),  # of the library, printed
    "table": (0.7, re.compile(r"\b(?<!def )\w*table\w*\(")),
}
OPERATOR = re.compile(r"(?<=[\w)²³]) [·/×=+−] (?=[\w(√−])|(?<=[\d)])/(?=[\d(])")
NO_SUM = re.compile(r"`[^`]*`|\]\([^)]*\)|^#.*$|^\s*\|.*$", re.M)  # code, addresses, headings, tables
PICTURE = re.compile(r"!\[|<img\b|<svg\b")  # in a text

MINUTES, WORDS, CELLS, LINES = 80, 1900, 60, 150
WORDS_OF_A_CELL, LINES_OF_A_CELL, COLUMNS = 90, 20, 88
HOW_MANY = {"predict": (3, 6, "predictions"), "turn": (2, 4, "your turns"), "quiz": (5, 5, "quiz questions")}


@dataclass(frozen=True)
class Section:
    """From one heading of the second level to the next."""

    cell: Cell
    title: str
    timed: bool  # whether its heading gives minutes
    computed: float
    short: bool  # on the short path; the wrap-up, whose heading gives no minutes, is


def pattern_problems(file: str, cells: Sequence[Cell]) -> Iterator[Problem]:
    """What breaks the pattern's limits; nothing for a lesson whose headings give no minutes."""
    if not any(s.timed for s in sections(cells)):
        return
    for cell in cells:
        if cell.type == "markdown" and (typed := _typed(cell.source)):
            yield Problem(
                file, cell, f"minutes are computed: write {MINUTES_HERE} for the {typed} in its heading or table"
            )
        for sentence in _of_a_cell(cell):
            yield Problem(file, cell, sentence)
    for sentence in _of_the_whole(cells):
        yield Problem(file, cells[0], sentence)


def filled(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with the computed minutes in their headings, and in the table at the top."""
    found = sections(cells)
    short = sum(s.computed for s in found if s.short)
    paths = {"Whole lesson": sum(map(minutes, cells)), "Short path": short}
    headings = iter(found)

    def heading(match: re.Match[str]) -> str:
        number = max(1, round(next(headings).computed))
        told = f"{number} minute{'' if number == 1 else 's'}"
        return re.sub(r"\{minutes\} minutes?", told, match[0])

    def path(match: re.Match[str]) -> str:
        return match[0].replace(MINUTES_HERE, f"{paths[match['path']]:.0f}")

    return [
        replace(c, source=PATH.sub(path, HEADING.sub(heading, c.source))) if c.type == "markdown" else c for c in cells
    ]


def _typed(text: str) -> str:
    """Minutes that somebody has typed where the build computes them."""
    found = [match["minutes"] for pattern in (HEADING, PATH) for match in pattern.finditer(text)]
    return next((number for number in found if number and number != MINUTES_HERE), "")


def sections(cells: Sequence[Cell]) -> list[Section]:
    """The sections, with the minutes that their cells take. A heading may be in the middle of a cell."""
    found: list[Section] = []
    for cell in cells:
        texts = _at_headings(cell.source) if cell.type == "markdown" else [cell.source]
        for text in texts:
            heading = HEADING.match(text) if cell.type == "markdown" else None
            if heading:
                timed = bool(heading["minutes"])
                found.append(Section(cell, heading["title"], timed, 0.0, bool(heading["short"]) or not timed))
            if found:
                computed = found[-1].computed + minutes(replace(cell, source=text))
                found[-1] = replace(found[-1], computed=computed)
    return found


def minutes(cell: Cell) -> float:
    """What one cell takes."""
    if cell.type == "markdown":
        reading = len(words(cell.source)) / WORDS_A_MINUTE + OPERATION * operations(cell.source)
        return reading + SEEN["figure"][0] * len(PICTURE.findall(cell.source))
    return EACH.get(mark(cell).kind, 0.0) + len(shown_lines(cell)) / LINES_A_MINUTE + sum(_seen(cell))


def _seen(cell: Cell) -> Iterator[float]:
    """The minutes of what stands below the cell."""
    if mark(cell).kind not in ("predict", "quiz", "behind"):
        for each, call in SEEN.values():
            yield each * len(call.findall(cell.source))


def words(text: str, tables: bool = True) -> list[str]:
    """The words of a Markdown text; without those of tables if ``tables`` is False."""
    lines = [line for line in text.splitlines() if tables or not line.lstrip().startswith("|")]
    return [word for line in lines for word in line.split() if any(c.isalnum() for c in word)]


def operations(text: str) -> int:
    """How often a Markdown text adds, multiplies, divides or sets equal."""
    return len(OPERATOR.findall(NO_SUM.sub("", text)))


def shown_lines(cell: Cell) -> list[str]:
    """The lines of code that the learner sees; none of a cell that is folded, or behind."""
    this = mark(cell)
    if cell.type != "code" or this.fold or this.kind in ("predict", "quiz", "behind") or _is_folded(cell):
        return []
    source = f"{stub(cell.source)}\nyour_turn({this.name})" if this.kind == "turn" else cell.source
    return [line for line in source.splitlines() if line.strip()]


def _is_folded(cell: Cell) -> bool:
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def _at_headings(text: str) -> list[str]:
    starts = sorted({0, *(m.start() for m in HEADING.finditer(text))})
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True) if text[a:b].strip()]


def _of_a_cell(cell: Cell) -> Iterator[str]:
    if cell.type == "markdown" and (count := len(words(cell.source, tables=False))) > WORDS_OF_A_CELL:
        yield f"it has {count} words; {WORDS_OF_A_CELL} are the most for a cell"
    lines = shown_lines(cell)
    if len(lines) > LINES_OF_A_CELL:
        yield f"it shows {len(lines)} lines of code; {LINES_OF_A_CELL} are the most for a cell"
    if wide := [line for line in lines if len(line) > COLUMNS]:
        yield f"a line has {len(wide[0])} columns; {COLUMNS} are the most: {wide[0].strip()[:40]}…"


def _of_the_whole(cells: Sequence[Cell]) -> Iterator[str]:
    kinds = Counter(mark(c).kind for c in cells)
    for kind, (fewest, most, called) in HOW_MANY.items():
        if not fewest <= kinds[kind] <= most:
            yield f"the lesson has {kinds[kind]} {called}; it should have {_range(fewest, most)}"
    counts = (
        (round(sum(map(minutes, cells))), MINUTES, "minutes, computed"),
        (sum(len(words(c.source, tables=False)) for c in cells if c.type == "markdown"), WORDS, "words"),
        (len(cells) - kinds["behind"], CELLS, "cells"),
        (sum(len(shown_lines(c)) for c in cells), LINES, "shown lines of code"),
    )
    for count, most, called in counts:
        if count > most:
            yield f"the lesson has {count:,} {called}; {most:,} are the most: move something to more.py"


def _range(fewest: int, most: int) -> str:
    return str(most) if fewest == most else f"{fewest} to {most}"
