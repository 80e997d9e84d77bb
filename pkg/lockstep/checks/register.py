"""Every exercise by its id: those of this package, and a teacher's plain ones.

find("communication.ring_all_reduce")              of this package
find("averages.mean_of_shards")                    of a course that is open here, or that a lab was handed out with
find("course/01_averages/mean_of_shards.py")       a plain exercise by its file, wherever it is
"""

from __future__ import annotations

from pathlib import Path

from lockstep.checks import exercise as of_package
from lockstep.checks.exercise import Exercise
from lockstep.checks.own_courses import HANDED_OUT, courses, file_of, handed_out, plain_files, topic_of
from lockstep.checks.plain_exercise import PlainExercise, exercise_of
from lockstep.checks.plain_file import parsed, read
from lockstep.errors import UsageError


def find(id: str) -> Exercise:
    """The exercise of that id; no other is read. Raises UsageError if there is none, with the ids that are like it, or
    if a plain one cannot be read, with the line."""
    if not isinstance(id, str):
        return of_package.find(id)
    if id.endswith(".py"):
        return _in(Path(id))
    topic, _, function = id.partition(".")
    if of_package.is_there(topic, function):
        return of_package.find(id)
    if file := file_of(topic, function) if topic.isidentifier() and function.isidentifier() else None:
        return _in(file)
    if text := handed_out().get(id):
        path = Path.cwd() / HANDED_OUT
        return exercise_of(parsed(text, path, topic, function, handed_out=True))
    if topic.isidentifier() and function.isidentifier() and topic not in of_package.TOPICS:
        raise UsageError(
            f"There is no exercise {id!r}.",
            f"Is it of a course of its own? Then {HANDED_OUT}, which came with the lab, stands beside this notebook.",
        )
    return of_package.find(id)


def plain_exercises() -> list[PlainExercise]:
    """Those of the courses that are open here."""
    return [_in(path) for course in courses() for path in plain_files(course)]


def _in(path: Path) -> PlainExercise:
    return exercise_of(read(path, topic_of(path)))
