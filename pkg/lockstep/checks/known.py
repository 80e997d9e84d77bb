'''Answers that are known to be wrong: programs that learners have written, each with what to tell its author.

    """The learner thought: the second trip is the first one again."""
    MISCONCEPTION = "adds-in-all-gather"
    TELL = "The second half adds what arrives; that is complete already: store it."
    VARIANTS = ["adds_in_both_halves"]      other files that make the same mistake
    ALSO = ["too-many-messages"]            what else may rightly be said of it

They stand in ``wrong/`` beside the exercise, and a teacher's own in ``course/NN_topic/wrong/FUNCTION/``. An answer
without TELL is one that is told by its error or by the cases that fail: it is never recognised. TELL may name numbers
of the learner's own run: {K}, {numel}, {messages}, {needed}, {rounds}, {hub}.
'''

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.checks.exercise import Exercise
from lockstep.checks.load import FromFile, NoFunction, Unreadable, load
from lockstep.errors import UsageError

CONSTANTS: Mapping[str, type] = {"MISCONCEPTION": str, "TELL": str, "VARIANTS": list, "ALSO": list}


@dataclass(frozen=True)
class Known:
    """A wrong answer. ``tell`` is empty where nothing more can be said than what any such run is told."""

    path: Path
    misconception: str
    tell: str = ""
    variants: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def ends(self) -> bool:
        """Whether it can be run for comparison: one that crashes or hangs is told by its own error."""
        return not self.misconception.startswith("crashed:")

    def load(self, function: str) -> FromFile:
        return load(self.path, function)


def known_answers(exercise: Exercise) -> list[Known]:
    """The course's own, and those in the folder of the course that is open here."""
    folders = [exercise.wrong, *_of_teachers(exercise)]
    return [read(path, exercise) for folder in folders for path in sorted(folder.glob("[!_]*.py"))]


def read(path: Path, exercise: Exercise) -> Known:
    """The wrong answer in a file. Raises UsageError, in one sentence, where the file does not say what it must."""
    try:
        load(path, exercise.function)
        found = _constants(path)
    except (NoFunction, Unreadable) as error:
        raise UsageError(f"{path.name} is no known wrong answer: {error.message}") from None
    if not found.get("MISCONCEPTION"):
        raise UsageError(f"{path.name} states no MISCONCEPTION.", 'Write, for example, MISCONCEPTION = "adds-twice".')
    for name, value in found.items():
        if not isinstance(value, CONSTANTS[name]):
            raise UsageError(f"{name} in {path.name} is no {CONSTANTS[name].__name__}.")
    return Known(
        path,
        found["MISCONCEPTION"],
        found.get("TELL", ""),
        tuple(found.get("VARIANTS", ())),
        tuple(found.get("ALSO", ())),
    )


def _constants(path: Path) -> dict[str, Any]:
    """The constants of ``CONSTANTS``, read without running the file."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
        if isinstance(node, ast.Assign) and name in CONSTANTS:
            try:
                found[name] = ast.literal_eval(node.value)
            except ValueError:
                raise UsageError(f"{name} in {path.name} is not written out: give text, or a list of it.") from None
    return found


def _of_teachers(exercise: Exercise) -> list[Path]:
    """``course/NN_topic/wrong/FUNCTION`` of the courses at or above the working directory: a learner's copy, which has
    none, lies in the course that it was made of."""
    here = Path.cwd()
    courses = [f / "course" for f in (here, *here.parents) if (f / "nbgrader_config.py").is_file()]
    return [found for c in courses for found in sorted(c.glob(f"*_{exercise.topic}/wrong/{exercise.function}"))]
