"""Splits a lesson's source into the cells that are seen and what is behind, by the marks of its cells.

::

    # %% lesson="predict NAME"               a call of predict; its answer is for the build, the rest is folded
    # %% lesson="after NAME"                 waits until NAME is open; "after NAME fold" is folded, too
    # %% [markdown] lesson="after NAME"      goes behind, and appears when NAME is open
    # %% [markdown] lesson="reason NAME"     goes behind, and appears when the learner has written a reason
    # %% lesson="turn NAME"                  def NAME with BEGIN SOLUTION … END SOLUTION: the learner's lines
    # %% lesson="behind NAME"                cases, wrong, well: goes behind, whole
    # %% lesson="quiz NAME"                  a call of quiz; its answers go behind, the rest is folded
    # %% lesson="fold"                       code that is folded

The names of ``lesson.py`` and ``more.py`` are one topic's, and what is behind both is one file.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockstep.grading.text_notebook import Cell
from lockstep.lessons.after import MARK
from lockstep.lessons.behind import Behind, Question, QuizAnswer, TurnSource
from lockstep.lessons.quiz import told
from lockstep.lessons.session import REASON

KINDS = ("predict", "after", "reason", "turn", "behind", "quiz", "fold")
SOURCES = ("lesson", "more")  # in the order in which their names are made
HIDDEN = ("answer", "because", "wrong", "within")  # of a quiz
FOLDED = {"jupyter": {"source_hidden": True}}
_NAMED = re.compile(r"(?P<kind>[a-z]+) (?P<name>[a-z][a-z0-9_-]*)(?P<fold> fold)?")
_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION\n?", re.S | re.M)
_ANSWER = re.compile(r",\s*answer=-?[\d._e]+")  # of a prediction: ``lesson_answers`` has looked for it
_MARKS = re.compile(r"^ *### (BEGIN|END) SOLUTION\n?", re.M)


@dataclass(frozen=True)
class Mark:
    """A cell's mark, parsed."""

    kind: str = ""
    name: str = ""
    fold: bool = False

    @property
    def gate(self) -> str:
        """What must be open before the cell is shown or run; empty for a cell that does not wait."""
        return {"after": self.name, "reason": self.name + REASON}.get(self.kind, "")


def mark(cell: Cell) -> Mark:
    """The mark of a cell. A mark that makes no sense is as none: the rules say so."""
    if cell.lesson == "fold":
        return Mark("fold", fold=True)
    match = _NAMED.fullmatch(cell.lesson)
    if not match or match["kind"] not in KINDS[:-1] or (match["fold"] and match["kind"] != "after"):
        return Mark()
    return Mark(match["kind"], match["name"], bool(match["fold"]))


@dataclass(frozen=True)
class Parted:
    """One topic: by "lesson" and "more", the cells that are seen, and those of the complete lesson."""

    seen: dict[str, list[Cell]]
    complete: dict[str, list[Cell]]
    behind: Behind


def part(topic: str, sources: Mapping[str, Sequence[Cell]]) -> Parted:
    """Part sources that keep the rules. A source without marks stays as it is."""
    behind = Behind()
    seen, complete = {}, {}
    for stem, cells in sources.items():
        mine = [_seen(cell, behind) for cell in cells]
        seen[stem] = _begun([c for c in mine if c], topic, "")
        complete[stem] = _begun([c for c in map(_complete, cells) if c], topic, ", everything=True")
        if not any(c.lesson for c in cells):
            seen[stem] = complete[stem] = list(cells)
    asked = ("predict", "turn", "quiz")
    behind.further.extend(mark(c).name for c in sources.get("more", ()) if mark(c).kind in asked)
    return Parted(seen, complete, behind)


def whole(source: str) -> str:
    """A turn's function, solved."""
    return _MARKS.sub("", source).strip()


def stub(source: str) -> str:
    """A turn's function as the learner gets it."""
    return _SOLUTION.sub(r"\1...\n", source).rstrip()


def arguments(source: str) -> dict[str, Any]:
    """The literal arguments of a cell that is one call: positional ones by number, the others by name.

    Raises ValueError, SyntaxError or AttributeError if it is not that.
    """
    (statement,) = ast.parse(source).body
    call: Any = statement.value  # type: ignore[attr-defined]
    given = {str(i): argument for i, argument in enumerate(call.args)} | {k.arg: k.value for k in call.keywords}
    return {name: ast.literal_eval(value) for name, value in given.items()} | {"called": ast.unparse(call.func)}


def quiz_answer(source: str) -> QuizAnswer:
    """A quiz cell as data. Raises what ``arguments`` raises, and KeyError or TypeError for its arguments."""
    given = arguments(source)
    del given["called"], given["0"]
    given["question"] = given.pop("1", None) or given.pop("question")
    lists = {"choices": tuple(given.get("choices", ())), "wrong": tuple(given.get("wrong", {}).items())}
    return QuizAnswer(**(given | lists))


def _seen(cell: Cell, behind: Behind) -> Cell | None:
    """The notebook's cell, or None if all of it goes behind; ``behind`` takes what does."""
    this = mark(cell)
    match this.kind:
        case "predict":
            given = arguments(cell.source)
            behind.predictions[this.name] = Question(given["1"], given.get("unit", given.get("2", "")))
            return _folded(replace(cell, source=_ANSWER.sub("", cell.source)))
        case "after" | "reason":
            source = cell.source if cell.type == "code" else f'lessons.told("{_kept(this, cell.source, behind)}")'
            held = replace(cell, type="code", source=f"{MARK}{this.gate}\n{source}")
            return _folded(held) if this.fold or cell.type != "code" else held
        case "turn":
            behind.turns[this.name] = TurnSource(whole(cell.source), stub(cell.source))
            return replace(cell, source=f"{stub(cell.source)}\n\n\nyour_turn({this.name})")
        case "behind":
            behind.turns[this.name] = replace(behind.turns[this.name], behind=cell.source)
            return None
        case "quiz":
            behind.quizzes[this.name] = quiz_answer(cell.source)
            return _folded(replace(cell, source=_asked(cell.source)))
        case "fold":
            return _folded(cell)
    return cell


def _complete(cell: Cell) -> Cell | None:
    this = mark(cell)
    match this.kind:
        case "predict":
            return _folded(replace(cell, source=_ANSWER.sub("", cell.source)))
        case "fold":
            return _folded(cell)
        case "after" if this.fold:
            return _folded(cell)
        case "turn":
            return replace(cell, source=f"{whole(cell.source)}\n\n\nyour_turn({this.name})")
        case "behind":
            return None
        case "quiz":
            answer = quiz_answer(cell.source)
            asked = [f"**{answer.question}**", *(f"- {choice}" for choice in answer.choices), told(answer)]
            return replace(cell, type="markdown", source="\n\n".join(asked))
    return cell


def _begun(cells: list[Cell], topic: str, everything: str) -> list[Cell]:
    """The cells, with a call at the top of the first code cell that makes the kernel run this lesson. From then on a
    cell that says nothing is seen to run: torch and the figures take seconds to import."""
    first = next((i for i, c in enumerate(cells) if c.type == "code"), None)
    if first is None:
        return cells
    call = f'from lockstep import lessons\n\nlessons.begin("{topic}"{everything})'
    begun = replace(cells[first], source=f"{call}\n\n{cells[first].source}")
    return [*cells[:first], begun, *cells[first + 1 :]]


def _kept(this: Mark, text: str, behind: Behind) -> str:
    """Move a paragraph into what is behind; returns its key."""
    count = Counter(key.rpartition("-")[0] for key in behind.told)
    key = f"{this.gate}-{count[this.gate] + 1}"
    behind.told[key] = text
    return key


def _asked(source: str) -> str:
    """The call of quiz without what goes behind: the question can be read where there is no kernel."""
    call: Any = ast.parse(source).body[0]
    kept = [(None, value) for value in call.value.args] + [(k.arg, k.value) for k in call.value.keywords]
    lines = [
        f"    {f'{name}=' if name else ''}{ast.get_source_segment(source, value)},\n"
        for name, value in kept
        if name not in HIDDEN
    ]
    return f"quiz(\n{''.join(lines)})"


def _folded(cell: Cell) -> Cell:
    return replace(cell, metadata=dict(cell.metadata) | FOLDED)
