"""An executed lesson as a page.

Questions stand as text. What waits for a number, a reason or a line of the reader's is folded behind one closed
``<details>``, whose summary says what to do first; a button at the top opens all of them (static/site.js).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import nbformat
from nbformat.v4 import new_markdown_cell

from lockstep.lessons.after import MARK
from lockstep.lessons.behind import Behind, QuizAnswer
from lockstep.lessons.quiz import told
from lockstep.lessons.session import REASON
from website.figures import Shared
from website.links import rewritten

DECIDE = "Decide on a number first"
ASK = {"predict": "Your prediction", "quiz": "A question", "turn": "Your turn"}
_TOLD = re.compile(r'lessons\.told\("(.+)"\)')
_BEGIN = re.compile(r'\n*from lockstep import lessons\n+lessons\.begin\("[^"]*"\)\n*')
_COUNTED = re.compile(r"(Running for|It ran for) \d+ s( …|\.)|([^:\n]+: )?\d+ of \d+ in \d+ (s|minutes)\.")


@dataclass(frozen=True)
class Part:
    """Cells of the page, and the name that they wait for, or ""."""

    cells: tuple[Any, ...]
    waits_for: str = ""


def page(executed: Any, at: str, behind: Behind, shared: Shared, heading: str = "") -> Any:
    """The page's notebook. ``at`` is the notebook's path in the clone; ``heading`` is put under the title."""
    parts = [_part(cell, at, behind) for cell in executed.cells]
    cells = list(_folded(parts, behind))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "code":
            _trim(cell, shared)
    if heading:
        first = next(cell for cell in cells if cell.cell_type == "markdown")
        title, _, rest = first.source.partition("\n")
        first.source = f"{title}\n\n{heading}\n{rest}"
    metadata = {"kernelspec": executed.metadata.kernelspec, "language_info": {"name": "python"}}
    plain = {"metadata": metadata, "cells": cells, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.from_dict(plain)


def _part(cell: Any, at: str, behind: Behind) -> Part:
    if cell.cell_type != "code":
        return Part((new_markdown_cell(rewritten(cell.source, at)),))
    source, name = cell.source, ""
    if source.startswith(MARK):
        head, _, source = source.partition("\n")
        name = head.removeprefix(MARK).strip()
        cell.source = source
    if found := _TOLD.fullmatch(source):
        return Part((new_markdown_cell(rewritten(behind.told[found[1]], at)),), name)
    match call_of(source):
        case "predict", asked:
            question = behind.predictions[asked]
            unit = f" *In {question.unit}.*" if question.unit else ""
            return Part((_box("predict", f"{question.question}{unit}"),), name)
        case "quiz", asked:
            return Part((_question(behind.quizzes[asked]),), name)
        case "your_turn", asked:
            stub, solution = behind.turns[asked].stub, behind.turns[asked].solution
            cell.source, cell.outputs = stub, []
            answer = _details("Write your line first", f"```python\n{solution.strip()}\n```")
            return Part((cell, _box("turn", f"Complete `{asked}` in your copy of the lesson.\n\n{answer}")), name)
    cell.source = _BEGIN.sub("\n\n", source).strip("\n")
    return Part((cell,), name)


def call_of(source: str) -> tuple[str, str]:
    """Of a cell that ends with a call of ``predict``, ``quiz`` or ``your_turn``, the function and the name; else ""."""
    try:
        last = ast.parse(source).body[-1]
    except (SyntaxError, IndexError):  # a magic of IPython's, or nothing
        return "", ""
    match last:
        case ast.Expr(ast.Call(ast.Name(("predict" | "quiz") as called), [ast.Constant(str(name)), *_])):
            return called, name
        case ast.Expr(ast.Call(ast.Name("your_turn"), [ast.Name(name)])):
            return "your_turn", name
    return "", ""


def _question(asked: QuizAnswer) -> Any:
    choices = "\n".join(f"- {choice}" for choice in asked.choices)
    unit = f" *In {asked.unit}.*" if asked.unit and not choices else ""
    answer = _details("Answer first", told(asked))
    return _box("quiz", "\n\n".join(filter(None, [f"{asked.question}{unit}", choices, answer])))


def _box(kind: str, text: str) -> Any:
    return new_markdown_cell(f":::{{admonition}} {ASK[kind]}\n:class: ls-ask\n\n{text}\n:::")


def _details(summary: str, text: str) -> str:
    return f'<details class="ls-held"><summary>{escape(summary)}</summary>\n\n{text}\n\n</details>'


def _folded(parts: list[Part], behind: Behind) -> Iterator[Any]:
    """All cells in order, neighbours that wait for the same name in one fold."""
    open_for = ""
    for part in parts:
        if part.waits_for != open_for:
            if open_for:
                yield new_markdown_cell("</div></details>")
            if part.waits_for:
                summary = escape(_summary(part.waits_for, behind))
                yield new_markdown_cell(f'<details class="ls-held"><summary>{summary}</summary><div>')
            open_for = part.waits_for
        yield from part.cells
    if open_for:
        yield new_markdown_cell("</div></details>")


def _summary(name: str, behind: Behind) -> str:
    if name.endswith(REASON):
        return "Write down your reason first"
    return "Write your line first" if name in behind.turns else DECIDE


def _trim(cell: Any, shared: Shared) -> None:
    """Without what is of the run and not of the lesson; figures share their scripts."""
    folded = cell.metadata.get("jupyter", {}).get("source_hidden")
    cell.metadata = {"tags": ["hide-input"]} if folded else {}
    cell.execution_count = None
    cell.outputs = [o for o in cell.outputs if not _COUNTED.fullmatch(o.get("data", {}).get("text/plain", ""))]
    for output in cell.outputs:
        output.pop("execution_count", None)
        if output.output_type == "execute_result":
            output.output_type = "display_data"
        data = output.get("data", {})
        if "text/html" in data:
            output.data = {"text/html": shared.page(data["text/html"], depth=1), "text/plain": data["text/plain"]}
