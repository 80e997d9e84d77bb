"""What a lab must be so that nbgrader grades it fairly: each rule yields one sentence for each cell that breaks it.

nbgrader gives full marks to a cell that shows no number, and none to one that writes to stderr. So a tests cell is one
call to ``check`` and nothing else: that call always shows a number. (The build puts the import of ``check`` above it.)
"""

from __future__ import annotations

import ast
import io
import math
import tokenize
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from lockstep.checks.plain_marks import BEGIN, END
from lockstep.errors import LockstepError
from lockstep.grading.hints import STEPS, parts
from lockstep.grading.text_notebook import KINDS, Cell, Problem

CODE = ("given", "answer", "tests")


class Graded(Protocol):
    """What the build needs to know of an exercise."""

    @property
    def points(self) -> float: ...

    @property
    def minutes(self) -> int: ...

    @property
    def core(self) -> bool: ...


Find = Callable[[str], Graded]


def front_problems(file: str, cells: Sequence[Cell]) -> Iterator[Problem]:
    """The front page is read and run, and nothing else."""
    for cell in cells:
        if cell.tag or cell.unread or cell.lesson or BEGIN in cell.source:
            yield Problem(file, cell, "the front page has no lab cells, and none that wait; put this one into a unit")


def lab_problems(file: str, topic: str, cells: Sequence[Cell], find: Find) -> Iterator[Problem]:
    """All that is wrong with a lab, cell by cell. ``find`` knows the exercises, as ``lockstep.checks.find`` does."""
    for i, cell in enumerate(cells):
        before = {c.tag for c in cells[:i] if c.tag}
        for sentence in _cell_problems(topic, cell, before, find):
            yield Problem(file, cell, sentence)
    yield from _extra_before_core(file, topic, cells, find)
    tested = {c.name for c in cells if c.kind == "tests"}
    answered = {c.name for c in cells if c.kind == "answer"}
    for cell in cells:
        if cell.kind == "answer" and cell.name not in tested:
            yield Problem(file, cell, f'nothing grades it: add a cell with lab="tests {cell.name}" below')
        if cell.kind == "hint" and cell.name not in answered:
            yield Problem(file, cell, f'it helps with nothing: there is no cell with lab="answer {cell.name}"')
        if cell.kind == "given" and cell.name not in answered:
            yield Problem(file, cell, f'nothing mends it: add a cell with lab="answer {cell.name}" below')


def _extra_before_core(file: str, topic: str, cells: Sequence[Cell], find: Find) -> Iterator[Problem]:
    """The core exercises come first: they make the grade."""
    extra = ""
    for cell in cells:
        if cell.kind == "tests":
            with suppress(LockstepError):  # which is another rule's
                if not find(f"{topic}.{cell.name}").core:
                    extra = extra or cell.name
                elif extra:
                    yield Problem(file, cell, f"it is core, and {extra} above it is extra; core exercises come first")


def _cell_problems(topic: str, cell: Cell, before: set[str], find: Find) -> Iterator[str]:
    if cell.unread or (cell.tag and not cell.well_tagged):
        yield f'a tag reads lab="KIND name", with KIND one of {", ".join(KINDS)}'
    elif cell.lesson:
        yield "a lab has no lesson cells; put this one into lesson.py"
    elif cell.tag in before:
        yield "a cell above has the same tag; every tag stands once in a lab"
    elif cell.kind in CODE and cell.type != "code":
        yield f"a cell with this tag holds code, not {cell.type}"
    elif cell.kind == "tests":
        yield from _tests(f"{topic}.{cell.name}", cell, before, find)
    elif cell.kind == "answer":
        yield from _answer(cell, f"given {cell.name}" in before)
    elif cell.kind == "given":
        yield from _defines(cell)
    elif cell.kind == "hint":
        yield from _hint(cell)
    if cell.kind != "answer" and (BEGIN in cell.source or END in cell.source):
        yield f'only a cell with lab="answer …" may hold {BEGIN}: a student would read this one'


def _hint(cell: Cell) -> Iterator[str]:
    if cell.type != "markdown":
        yield "a hint is Markdown"
    if len(parts(cell.source)) != len(STEPS) or not all(parts(cell.source)):
        yield f"a hint has {len(STEPS)} parts, with a line --- between: where to begin, the idea, almost the code"


def _tests(exercise: str, cell: Cell, before: set[str], find: Find) -> Iterator[str]:
    if f"answer {cell.name}" not in before:
        yield f'there is no lab="answer {cell.name}" above it'
    if problem := _not_one_call(cell.source, exercise, cell.name):
        yield problem
    try:
        points = find(exercise).points
    except LockstepError as error:
        yield f"{error.message}"
        return
    if not (isinstance(points, int | float) and math.isfinite(points) and points > 0):
        yield f"the exercise {exercise} gives {points} points; give it a number above 0 in lockstep.checks"


def _not_one_call(source: str, exercise: str, name: str) -> str:
    """Why ``source`` is not exactly one call to check whose number Jupyter shows."""
    wanted = f'check("{exercise}", {name})'
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        return f"it is not Python ({error.msg}); write {wanted} and nothing else"
    if len(body) != 1 or not _calls_check(body[0], exercise, name):
        return f"a tests cell is one call and nothing else: {wanted}"
    if _last_token(source) == ";":
        return f"the ; hides the score, and nbgrader then gives full marks; write {wanted}"
    return ""


def _calls_check(statement: ast.stmt, exercise: str, name: str) -> bool:
    match statement:
        case ast.Expr(ast.Call(function, [ast.Constant(str(told)), ast.Name(given)], keywords)):
            plain = all(k.arg and isinstance(k.value, ast.Constant) for k in keywords)
            return ast.unparse(function) == "check" and (told, given) == (exercise, name) and plain
    return False


def _last_token(source: str) -> str:
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string for t in tokens if t.type not in skipped][-1]


def _answer(cell: Cell, given: bool) -> Iterator[str]:
    yield from _defines(cell)
    marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
    if not marks and not given:
        yield f"it has no {BEGIN} … {END} around what a student has to write"
    elif marks != [BEGIN, END] * (len(marks) // 2):
        yield f"every {BEGIN} needs one {END} below it"


def _defines(cell: Cell) -> Iterator[str]:
    try:
        body = ast.parse(cell.source).body
    except SyntaxError as error:
        yield f"it is not Python: {error.msg} (line {cell.line + (error.lineno or 0)})"
        return
    if cell.name not in {s.name for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef)}:
        yield f"it does not define {cell.name}"
