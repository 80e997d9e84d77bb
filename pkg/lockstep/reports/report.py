"""What a learner's kernel tells the board, as JSON, and the strict reading of it.

    {"version": 1, "learner": "0f3c…", "nickname": "",
     "results": [[7, "communication.ring_all_reduce", 2.5, "whole-tensor"]]}

``learner`` is 32 random hexadecimal digits, drawn when somebody joins; a name is sent only if they chose one. Each
result is its number (1, 2, 3 … for this learner), an exercise, its points, and the id of the first thing that the check
found, empty if nothing was found or the course has no word for it. There is no code in it, no path and no time.

    {"version": 1, "learner": "0f3c…", "form": "before", "answers": "bacd-abcdabc"}

are the answers to the concept inventory, a letter for each question, "-" for none.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = 1
MOST_BYTES = 32_768  # of one report
MOST_RESULTS = 100  # in one report
MOST_NUMBER = 1_000_000
QUESTIONS = 12  # of each form of the inventory
FORMS = ("before", "after")

_LEARNER = re.compile(r"[0-9a-f]{32}")
_EXERCISE = re.compile(r"[a-z][a-z0-9_]{0,49}\.[A-Za-z_][A-Za-z0-9_]{0,79}")
_MISCONCEPTION = re.compile(r"[A-Za-z0-9_:-]{0,80}")
_NICKNAME = re.compile(r"[^\W_](?:[\w .'-]{0,18}[\w.])?")
_ANSWERS = re.compile(rf"[a-d-]{{{QUESTIONS}}}")


class Refused(ValueError):
    """A report that is not one; the message says why, in a sentence without anything of the report in it."""


@dataclass(frozen=True)
class Result:
    """One check: its number for this learner, the exercise, its points, and what was found first."""

    number: int
    exercise: str
    points: float
    misconception: str = ""


@dataclass(frozen=True)
class Report:
    """Results of one learner, numbered upwards. Without any it says that the learner has joined."""

    learner: str
    nickname: str = ""
    results: tuple[Result, ...] = ()

    def written(self) -> bytes:
        rows = [[r.number, r.exercise, r.points, r.misconception] for r in self.results]
        told = {"version": VERSION, "learner": self.learner, "nickname": self.nickname, "results": rows}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Answers:
    """One learner's answers to a form of the inventory: a letter from a to d for each question, or "-"."""

    learner: str
    form: str
    answers: str

    def written(self) -> bytes:
        told = {"version": VERSION, "learner": self.learner, "form": self.form, "answers": self.answers}
        return json.dumps(told, separators=(",", ":")).encode()


def read_report(body: bytes) -> Report:
    """The report in ``body``. Raises Refused for anything but one."""
    told = _object(body, {"version", "learner", "nickname", "results"})
    rows = told["results"]
    if not isinstance(rows, list) or len(rows) > MOST_RESULTS:
        raise Refused(f"results is no list of {MOST_RESULTS} results at most.")
    results = tuple(map(_result, rows))
    numbers = [result.number for result in results]
    if any(a >= b for a, b in itertools.pairwise(numbers)):
        raise Refused("The results are not numbered upwards.")
    return Report(learner_of(told), nickname_of(told["nickname"]), results)


def read_answers(body: bytes) -> Answers:
    """The answers in ``body``. Raises Refused for anything else."""
    told = _object(body, {"version", "learner", "form", "answers"})
    if told["form"] not in FORMS:
        raise Refused("form is neither before nor after.")
    return Answers(learner_of(told), told["form"], _text(told["answers"], _ANSWERS, "answers"))


def read_leave(body: bytes) -> str:
    """Who leaves. Raises Refused if nobody does."""
    return learner_of(_object(body, {"version", "learner"}))


def learner_of(told: Mapping[str, Any]) -> str:
    return _text(told["learner"], _LEARNER, "learner")


def nickname_of(name: object) -> str:
    """A nickname, or an empty text. Raises Refused for more than 20 characters, and for others than letters, digits
    and single signs between them."""
    return "" if name == "" else _text(name, _NICKNAME, "nickname")


def _object(body: bytes, keys: set[str]) -> dict[str, Any]:
    if len(body) > MOST_BYTES:
        raise Refused(f"It has more than {MOST_BYTES} bytes.")
    try:
        told = json.loads(body.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        raise Refused("It is not JSON.") from None
    if not isinstance(told, dict) or set(told) != keys:
        raise Refused(f"It is no object of exactly {', '.join(sorted(keys))}.")
    if not _is_whole(told["version"]) or told["version"] != VERSION:
        raise Refused(f"This board reads version {VERSION} of reports.")
    return told


def _result(row: object) -> Result:
    if not isinstance(row, list) or len(row) != 4:
        raise Refused("A result is a list of four.")
    number, exercise, points, misconception = row
    if not _is_whole(number) or not 1 <= number <= MOST_NUMBER:
        raise Refused("A result's number is a whole number from 1 on.")
    if not isinstance(points, int | float) or isinstance(points, bool) or not 0 <= points <= 1000:
        raise Refused("A result's points are a number, 0 or more.")
    if not math.isfinite(points):
        raise Refused("A result's points are finite.")
    named = _text(exercise, _EXERCISE, "exercise")
    return Result(number, named, float(points), _text(misconception, _MISCONCEPTION, "misconception"))


def _text(value: object, pattern: re.Pattern[str], name: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Refused(f"{name} is not what it may be.")
    return value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _no_number(name: str) -> float:
    raise ValueError(name)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
