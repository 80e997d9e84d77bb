"""How long a lesson takes, and what is too much. Minutes are computed, not felt: the same formula for every lesson.

A lesson is on the pattern when its headings tell minutes: ``## 6. Title · 18 minutes · short path``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lockstep.grading.parting import mark, stub
from lockstep.grading.text_notebook import Cell, Problem

HEADING = re.compile(r"^## (?P<title>.*?)(?: · (?P<minutes>\d+) minutes?)?(?P<short> · short path)?$", re.M)
PATH = re.compile(r"^\| (?P<path>Whole lesson|Short path) \| (?P<minutes>\d+) \|", re.M)  # in the table at the top
EACH = {"predict": 2.0, "turn": 3.0, "quiz": 1.0}  # minutes, besides reading
WORDS_A_MINUTE, LINES_A_MINUTE = 100, 5
OFF, OFF_BY = 2.0, 0.25  # minutes, and share of the told ones: what a heading may be off by, whichever is more

MINUTES, WORDS, CELLS, LINES = 75, 1900, 60, 150
WORDS_OF_A_CELL, LINES_OF_A_CELL, COLUMNS = 90, 20, 88
HOW_MANY = {"predict": (3, 6, "predictions"), "turn": (2, 4, "your turns"), "quiz": (5, 5, "quiz questions")}


@dataclass(frozen=True)
class Section:
    """From one heading of the second level to the next."""

    cell: Cell
    title: str
    told: int  # minutes; 0 where the heading tells none
    computed: float
    short: bool  # on the short path; the wrap-up, whose heading tells no minutes, is


def pattern_problems(file: str, cells: Sequence[Cell]) -> Iterator[Problem]:
    """What breaks the pattern's limits; nothing for a lesson whose headings tell no minutes."""
    found = sections(cells)
    if not any(s.told for s in found):
        return
    for s in found:
        if s.told and _is_off(s.told, s.computed):
            yield Problem(file, s.cell, f"“{s.title}” tells {s.told} minutes; {s.computed:.0f} are computed")
    computed = {
        "Whole lesson": sum(map(minutes, cells)),
        "Short path": sum(s.computed for s in found if s.short),
    }
    for path in PATH.finditer(cells[0].source):
        if _is_off(told := int(path["minutes"]), computed[path["path"]]):
            sentence = f"“{path['path']}” tells {told} minutes; {computed[path['path']]:.0f} are computed"
            yield Problem(file, cells[0], sentence)
    for cell in cells:
        for sentence in _of_a_cell(cell):
            yield Problem(file, cell, sentence)
    for sentence in _of_the_whole(cells):
        yield Problem(file, cells[0], sentence)


def _is_off(told: int, computed: float) -> bool:
    return abs(told - computed) > max(OFF, told * OFF_BY)


def sections(cells: Sequence[Cell]) -> list[Section]:
    """The sections, with the minutes that their cells take. A heading may stand in the middle of a cell."""
    found: list[Section] = []
    for cell in cells:
        texts = _at_headings(cell.source) if cell.type == "markdown" else [cell.source]
        for text in texts:
            heading = HEADING.match(text) if cell.type == "markdown" else None
            if heading:
                told = int(heading["minutes"] or 0)
                found.append(Section(cell, heading["title"], told, 0.0, bool(heading["short"]) or not told))
            if found:
                computed = found[-1].computed + minutes(replace(cell, source=text))
                found[-1] = replace(found[-1], computed=computed)
    return found


def minutes(cell: Cell) -> float:
    """What one cell takes."""
    if cell.type == "markdown":
        return len(words(cell.source)) / WORDS_A_MINUTE
    return EACH.get(mark(cell).kind, 0.0) + len(shown_lines(cell)) / LINES_A_MINUTE


def words(text: str, tables: bool = True) -> list[str]:
    """The words of a Markdown text; without those of tables if told so."""
    lines = [line for line in text.splitlines() if tables or not line.lstrip().startswith("|")]
    return [word for line in lines for word in line.split() if any(c.isalnum() for c in word)]


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
