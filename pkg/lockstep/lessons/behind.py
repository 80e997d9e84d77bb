"""What the build hides of a lesson: paragraphs, solutions and answers. Plain data, one JSON file a topic."""

from __future__ import annotations

import ast
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lockstep.errors import UsageError

FOLDER = Path(__file__).parent
LONG = 30  # characters: a shorter line may occur elsewhere by chance


@dataclass(frozen=True)
class Question:
    """What a prediction asks; a reconciliation needs it even where nothing was predicted."""

    question: str
    unit: str = ""


@dataclass(frozen=True)
class TurnSource:
    """``solution`` defines the function, whole, ``stub`` is what the learner gets of it; ``behind`` defines ``cases``,
    ``wrong`` and ``well``. All are Python."""

    solution: str
    stub: str
    behind: str = ""


@dataclass(frozen=True)
class QuizAnswer:
    """A number (right if it is off by less than the share ``within``) or one of ``choices``."""

    question: str
    answer: float | str
    because: str
    unit: str = ""
    within: float = 0.01
    choices: tuple[str, ...] = ()
    wrong: tuple[tuple[float | str, str], ...] = ()  # a known wrong answer, and the reply to it


@dataclass(frozen=True)
class Behind:
    """``told``: paragraphs by key. ``order``: the ids of the cells that wait, in the order of the notebooks.
    ``further``: the names that more.py asks for, which a lesson's progress doesn't count."""

    told: dict[str, str] = field(default_factory=dict)
    predictions: dict[str, Question] = field(default_factory=dict)
    turns: dict[str, TurnSource] = field(default_factory=dict)
    quizzes: dict[str, QuizAnswer] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    further: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """What no cell and no output may show before it is opened: whole lines, as long as a sentence."""
        told = [line for text in self.told.values() for line in text.splitlines() if not line.startswith("|")]
        solved = [line.strip() for t in self.turns.values() for line in t.solution.splitlines()]
        nodes = [node for t in self.turns.values() for node in ast.walk(ast.parse(t.behind))]
        turns = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        quizzes = [said for q in self.quizzes.values() for said in [q.because, *(said for _, said in q.wrong)]]
        asked = [line.strip() for t in self.turns.values() for line in t.stub.splitlines()]
        return [line for line in [*told, *solved, *turns, *quizzes] if len(line) >= LONG and line not in asked]

    def text(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def parse(text: str) -> Behind:
    """The inverse of ``Behind.text``."""
    data = json.loads(text)
    return Behind(
        told=data["told"],
        predictions={name: Question(**row) for name, row in data["predictions"].items()},
        turns={name: TurnSource(**row) for name, row in data["turns"].items()},
        quizzes={name: _quiz(row) for name, row in data["quizzes"].items()},
        order=data["order"],
        further=data.get("further", []),
    )


def load(topic: str) -> Behind:
    """What is behind the lesson of ``topic``: in the folder ``$LOCKSTEP_LESSONS`` (a teacher's own), or in the package.

    Raises UsageError if there is no such lesson.
    """
    folders = [*map(Path, filter(None, [os.environ.get("LOCKSTEP_LESSONS")])), FOLDER]
    for path in (folder / f"{topic}.json" for folder in folders):
        if path.is_file():
            return parse(path.read_text(encoding="utf-8"))
    raise UsageError(
        f"What is behind the lesson {topic!r} is not installed.",
        "Run `lockstep build` in the course's folder, or install the Lockstep that this lesson came with.",
    )


def _quiz(row: dict[str, Any]) -> QuizAnswer:
    lists = {"choices": tuple(row["choices"]), "wrong": tuple((given, said) for given, said in row["wrong"])}
    return QuizAnswer(**(row | lists))
