"""Does a lesson tell the answer to a prediction before the learner has decided on a number?

The author writes the answer where it is asked for; the build takes it out of the notebook::

    predict("ring-bytes", "How many MB does one rank send?", unit="MB", answer=196.9)

It is then looked for in what is open to everybody: Markdown that does not wait, and questions.

    a number of three digits or more      in the question, in all text above it, and on the next screen below
    a shorter one, followed by its unit   in the question, in its section above, and on the next screen below

Zeros at the end count for nothing: 100 has one digit. A shorter number is also found as a word: "four all-reduces",
"twice" for 2 times, "half" for 50 %. A number in the text may be rounded: 197 tells 196.9. What follows from the text
by a sum is not found: that is what a prediction is for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from lockstep.grading.lesson_counts import HEADING
from lockstep.grading.lesson_parts import arguments, mark, stub
from lockstep.grading.text_notebook import Cell, Problem

SCREEN = 200  # words below a prediction that are on the page with it
MANY_DIGITS = 3  # so many hardly stand in a text by chance
SHOWN = 60  # characters of the text around a number, in the sentence
NUMBER = re.compile(r"(?<![\w.,])(?<!\d x )(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\.?\d)")
NAMES = "one two three four five six seven eight nine ten eleven twelve"
WORDS: Mapping[str, float] = {word: n for n, word in enumerate(NAMES.split(), 1)}
ALONE: Mapping[str, Mapping[str, float]] = {"%": {"half": 50.0}, "times": {"twice": 2.0, "half": 0.5}}
SPOKEN = {"%": r"(?:%|per ?cent\b)", "times": r"(?:times\b|×)"}


def answer_problems(folder: str, sources: Mapping[str, Sequence[Cell]]) -> Iterator[Problem]:
    """The predictions of a topic that have no answer in their cell, and those whose answer the learner can read."""
    every = [cell for cells in sources.values() for cell in cells]
    for stem, cells in sources.items():
        for at, cell in enumerate(cells):
            if mark(cell).kind == "predict" and (given := _asked(cell)):
                file, answer, unit = f"{folder}/{stem}.py", given.get("answer"), str(given.get("unit", ""))
                if isinstance(answer, int | float):
                    for sentence in _told(cells, at, float(answer), unit):
                        yield Problem(file, cell, sentence)
                elif _is_simulated(mark(cell).name, every):
                    yield Problem(file, cell, "write answer=…, the number of its reconcile: the build keeps it hidden")


def _asked(cell: Cell) -> dict[str, object]:
    """The arguments of a predict cell; none where it is not one call, of which ``lesson_rules`` complains."""
    try:
        return arguments(cell.source)
    except (ValueError, SyntaxError, AttributeError):
        return {}


def _is_simulated(name: str, every: Sequence[Cell]) -> bool:
    """A number that is only measured differs between machines."""
    calls = [line for cell in every for line in cell.source.splitlines() if f'reconcile("{name}"' in line]
    return any("simulated=" in line and "measured=" not in line for line in calls)


def _told(cells: Sequence[Cell], at: int, answer: float, unit: str) -> Iterator[str]:
    above, section, below = "", "", ""
    for cell in cells[1:at]:  # the first one has the table of minutes
        above += open_text(cell)
        section = _from_last_heading(section + open_text(cell))
    for cell in cells[at + 1 :]:
        below += open_text(cell)
    screen = _first_words(below, SCREEN)
    question = open_text(cells[at])
    for place, text, near in (
        ("above it", section, True),
        ("above it", above.removesuffix(section), False),
        ("in its question", question, True),
        ("below it, on the same screen", screen, True),
    ):
        if found := telling(text, answer, unit, near):
            yield f"its answer, {answer:g} {unit}".rstrip() + f", stands {place}: “{found}”; ask another, or move it"
            return


def open_text(cell: Cell) -> str:
    """What everybody can read of a cell: nothing of one that waits, and of code only what it asks."""
    this = mark(cell)
    if cell.type == "markdown":
        return "" if this.gate else cell.source + "\n\n"
    if this.kind in ("predict", "quiz"):
        given = _asked(cell)
        choices = given.get("choices", ())
        return " ".join([str(given.get("1", "")), *map(str, choices if isinstance(choices, list) else ())]) + "\n\n"
    if this.kind == "turn":
        function = ast.parse(stub(cell.source)).body[0]
        return (ast.get_docstring(function) or "") + "\n\n" if isinstance(function, ast.FunctionDef) else ""
    return ""


def telling(text: str, answer: float, unit: str, near: bool) -> str:
    """The words of ``text`` that tell ``answer``, or none. Not ``near``: only a number of many digits counts."""
    follows = re.compile(rf"\s*{SPOKEN[unit]}" if unit in SPOKEN else rf"\s+(?:\w+ )?{re.escape(unit.rstrip('s'))}")
    for number in NUMBER.finditer(text):
        has_unit = near and bool(unit and follows.match(text, number.end()))
        if (has_unit or _digits(number[0]) >= MANY_DIGITS) and _is(number[0], answer):
            return _around(text, number.start())
    if near and unit:
        spoken = {**ALONE.get(unit, {})} | {word + follows.pattern: n for word, n in WORDS.items()}
        for pattern, n in spoken.items():
            if abs(n - answer) < 0.01 * answer and (found := re.search(rf"\b{pattern}", text, re.I)):
                return _around(text, found.start())
    return ""


def _is(written: str, answer: float) -> bool:
    """Whether the number as it is written is ``answer``, rounded to as many places."""
    number, places = float(written.replace(",", "")), len(written.partition(".")[2])
    return abs(number - answer) <= 0.5 * 10.0**-places + 1e-9 and (number != 0 or answer == 0)


def _digits(written: str) -> int:
    """Those that say something: 4 of 1,045, and 1 of 100."""
    whole, point, places = written.replace(",", "").partition(".")
    return len((whole + places).lstrip("0") if point else whole.strip("0"))


def _around(text: str, at: int) -> str:
    """Some words before and after a place, in one line."""
    begin, end = text.rfind(" ", 0, max(0, at - SHOWN // 2)) + 1, text.find(" ", at + SHOWN // 2)
    return " ".join(text[begin : end if end > 0 else len(text)].split())


def _from_last_heading(text: str) -> str:
    starts = [match.start() for match in HEADING.finditer(text)]
    return text[starts[-1] :] if starts else text


def _first_words(text: str, count: int) -> str:
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    return text[: ends[count - 1]] if len(ends) > count else text
