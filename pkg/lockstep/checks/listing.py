"""What the course says of each exercise, without importing it: ``exercises/index.json``, made by ``lockstep build``.

    listed()            all exercises, in the order of the course, and a teacher's plain ones
    text(exercises())   the file, as it should be

Importing all exercises takes a second, and torch. A list of them, or the title of the next one, needs neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Literal

from lockstep.checks.own_courses import HANDED_OUT, courses, handed_out, plain_files, topic_of
from lockstep.checks.plain_file import PlainFile, in_order, parsed, read

FOLDER = Path(__file__).parents[1] / "exercises"
INDEX = FOLDER / "index.json"

Kind = Literal["write", "mend", "catch"]


class Named:
    """What has the id of an exercise, and so its folder."""

    id: str  # "communication.ring_all_reduce"

    @property
    def mutants(self) -> int:
        """How many known wrong answers it has."""
        return _answers(self.wrong)

    @property
    def alternatives(self) -> int:
        """How many answers it has that are right in another way."""
        return _answers(self.right)

    @property
    def topic(self) -> str:
        return self.id.partition(".")[0]

    @property
    def function(self) -> str:
        return self.id.partition(".")[2]

    @property
    def wrong(self) -> Path:
        """The folder of its known wrong answers."""
        return FOLDER / self.topic / self.function / "wrong"

    @property
    def right(self) -> Path:
        """The folder of answers that are right in another way."""
        return FOLDER / self.topic / self.function / "right"


@dataclass(frozen=True)
class Listed(Named):
    """An exercise as the course lists it."""

    id: str
    number: int  # its place in the lab
    title: str
    points: int
    minutes: int
    signature: str  # "ring_all_reduce(tensor, group=None)"
    kind: Kind
    core: bool


@dataclass(frozen=True)
class PlainListed(Listed):
    """A plain exercise, as its file says."""

    in_its_file: int  # known wrong answers

    @property
    def mutants(self) -> int:
        return self.in_its_file


def listed() -> tuple[Listed, ...]:
    """All exercises of this package, in the order of the course, and the plain ones that are open here."""
    return *_of_package(), *_plain_ones()


def _plain_ones() -> Iterator[PlainListed]:
    """Each topic's after those of the package."""
    last = {topic: max(e.number for e in of_topic) for topic, of_topic in groupby(_of_package(), lambda e: e.topic)}
    for topic, files in groupby(sorted(_read_here(), key=lambda file: file.topic), lambda file: file.topic):
        for number, file in enumerate(in_order(files), last.get(topic, 0) + 1):
            signature = f"{file.function}({file.signature})"
            told = (file.id, number, file.title, file.points, file.minutes, signature)
            yield PlainListed(*told, "write", file.core, len(file.mistakes))


def _read_here() -> Iterator[PlainFile]:
    """Of the courses that are open here; of a learner's lab what it was handed out with."""
    found = [read(path, topic_of(path)) for course in courses() for path in plain_files(course)]
    yield from found
    for id, text in handed_out().items():
        topic, _, function = id.partition(".")
        if all(file.id != id for file in found):
            yield parsed(text, Path.cwd() / HANDED_OUT, topic, function, handed_out=True)


def _answers(folder: Path) -> int:
    return len(list(folder.glob("[!_]*.py")))


@cache
def _of_package() -> tuple[Listed, ...]:
    return tuple(Listed(**row) for row in json.loads(INDEX.read_text(encoding="utf-8")))


def text(exercises: Iterable[Named]) -> str:
    """The index of these exercises, which have all that ``Listed`` has: a line for each."""
    names = [field.name for field in fields(Listed)]
    rows = [{name: getattr(exercise, name) for name in names} for exercise in exercises]
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
