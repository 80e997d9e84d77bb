'''Known wrong answers: programs that learners have written, each with a sentence for its author.

    """The learner thought: the second trip is the first one again."""
    MISCONCEPTION = "adds-in-all-gather"
    TELL = "The second half adds what arrives; that is complete already: store it."
    VARIANTS = ["adds_in_both_halves"]      other files that make the same mistake
    ALSO = ["too-many-messages"]            what else is true of it
    RAISES = "^KeyError: 'float"            of one that raises: what Python says wherever the same TELL helps

They are in the folder ``wrong/`` of the exercise, and a teacher's own in ``course/NN_topic/wrong/FUNCTION/``. An
answer without TELL is explained by its error or by the cases that fail: it is never recognised. The TELL of one that
does not end is shown to all that do not end. TELL may contain numbers of the learner's own run, those of ``FIELDS``:
"All goes through rank {hub}."
'''

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any

from lockstep.checks.exercise import Exercise
from lockstep.checks.load import FromFile, NoFunction, Unreadable, load
from lockstep.checks.observation import Seen
from lockstep.checks.own_courses import is_course
from lockstep.checks.plain_exercise import PlainExercise, known_wrong
from lockstep.checks.traffic import hub, messages, number_sent, rounds
from lockstep.checks.wording import listed
from lockstep.errors import UsageError

CONSTANTS: Mapping[str, type] = {"MISCONCEPTION": str, "TELL": str, "VARIANTS": list, "ALSO": list, "RAISES": str}
FIELDS: Mapping[str, Callable[[Seen], Any]] = {
    "K": lambda seen: seen.case.size,
    "numel": lambda seen: seen.case.settings.get("numel"),
    "messages": lambda seen: max(number_sent(seen.trace).values(), default=0),
    "all_messages": lambda seen: len(messages(seen.trace)),
    "rounds": lambda seen: rounds(seen.trace),
    "hub": lambda seen: hub(seen.trace),
}


@dataclass(frozen=True)
class Known:
    """A wrong answer. ``tell`` is empty where its error, or the cases that fail, say all there is to say."""

    path: Path
    misconception: str
    tell: str = ""
    variants: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    raises: str = ""
    function: str = ""  # what it is called in a plain exercise's file; elsewhere it has the exercise's own name
    loads: Callable[[], FromFile] | None = None  # a plain exercise's

    @property
    def name(self) -> str:
        return self.function or self.path.stem

    @property
    def tellable(self) -> bool:
        """Whether answers are compared with it. One that crashes or hangs is explained by its own error."""
        return bool(self.tell) and not self.misconception.startswith("crashed:")

    def told(self, seen: Seen) -> str:
        """Its sentence, with the numbers of this run in it."""
        if self.loads:
            return self.tell  # whoever wrote it knows of no fields
        return self.tell.format(**{name: FIELDS[name](seen) for name in _fields(self.tell)})

    @property
    def hint(self) -> tuple[str, str]:
        """How a run ends that its sentence is true of, and the sentence."""
        return self.raises or self.misconception, self.tell

    def load(self, function: str) -> FromFile:
        return self.loads() if self.loads else load(self.path, function)


def known_answers(exercise: Exercise) -> list[Known]:
    """The course's own, and those in the folder of the course that is open here. Raises UsageError for a file that
    does not say what it must."""
    return [*_in_its_file(exercise), *(read(path, exercise) for path in _files(exercise))]


def _in_its_file(exercise: Exercise) -> list[Known]:
    """Those that stand in a plain exercise's own file, as ``wrong_...``."""
    if not isinstance(exercise, PlainExercise):
        return []
    return [
        Known(exercise.plain.path, id, tell, function=name, loads=partial(exercise.loaded, name))
        for name, (id, tell) in known_wrong(exercise.plain).items()
    ]


def tellable(exercise: Exercise) -> list[Known]:
    """Those that a learner's answer is compared with."""
    return [known for known in _in_order(exercise) if known.tellable]


def helpful(exercise: Exercise) -> list[Known]:
    """Those that crash or hang, and say what helps whoever does the same."""
    return [known for known in _in_order(exercise) if known.tell and not known.tellable]


def _in_order(exercise: Exercise) -> Iterator[Known]:
    """Without the files that a teacher has still to mend: they do learners no harm. `known_answers`, and so ``lockstep
    check ID --wrong``, reports what is wrong with them."""
    yield from _in_its_file(exercise)
    for path in _files(exercise):
        with contextlib.suppress(UsageError):
            yield read(path, exercise)


def _files(exercise: Exercise) -> list[Path]:
    return [path for folder in (exercise.wrong, *_of_teachers(exercise)) for path in sorted(folder.glob("[!_]*.py"))]


def read(path: Path, exercise: Exercise) -> Known:
    """The wrong answer in a file. Raises UsageError, in one sentence, where the file does not say what it must."""
    try:
        load(path, exercise.function)
    except (NoFunction, Unreadable) as error:
        raise UsageError(f"{path.name} is no known wrong answer: {error.message}") from None
    return stated(path)


def stated(path: Path) -> Known:
    """What a file says of its answer, whatever that is. Raises UsageError where it does not say what it must."""
    found = _constants(path)
    if not found.get("MISCONCEPTION"):
        raise UsageError(f"{path.name} states no MISCONCEPTION.", 'Write, for example, MISCONCEPTION = "adds-twice".')
    for name, value in found.items():
        if not isinstance(value, CONSTANTS[name]):
            raise UsageError(f"{name} in {path.name} is no {CONSTANTS[name].__name__}.")
    if unknown := [name for name in _fields(found.get("TELL", "")) if name not in FIELDS]:
        known = listed([f"{{{name}}}" for name in FIELDS])
        raise UsageError(
            f"TELL in {path.name} names {{{unknown[0]}}}, which no run has.",
            f"There are {known}; a brace that stands for itself is written twice.",
        )
    return Known(
        path,
        found["MISCONCEPTION"],
        found.get("TELL", ""),
        tuple(found.get("VARIANTS", ())),
        tuple(found.get("ALSO", ())),
        found.get("RAISES", ""),
    )


def _fields(tell: str) -> list[str]:
    """The names in braces; a brace that is not closed counts as a name, which no run has."""
    try:
        parts = list(Formatter().parse(tell))
    except ValueError:
        return [tell]
    return [f"{name}:{form}" if form else name for _, name, form, _ in parts if name is not None]


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
    courses = [f / "course" for f in (here, *here.parents) if is_course(f)]
    return [found for c in courses for found in sorted(c.glob(f"*_{exercise.topic}/wrong/{exercise.function}"))]
