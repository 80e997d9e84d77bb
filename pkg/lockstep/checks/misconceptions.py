"""The misconceptions that the course has a name for, exercise by exercise, without importing an exercise.

    named("communication.ring_all_reduce")     {"whole-tensor", "crashed:Deadlock", …}

They are those of its known wrong answers, and those that any check may find. A finding may have an id of its own
beside them: of such a one the class's board hears nothing but that there was one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.checks.listing import FOLDER
from lockstep.checks.own_courses import file_of
from lockstep.checks.plain_file import read
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.checks.judge import Finding

ENDED = {  # how a run may end, in a learner's words
    "Deadlock": "ranks wait for each other",
    "Mismatch": "ranks meet in different operations",
    "Unmatched": "a message that nobody receives",
    "RankRaised": "an exception",
    "RankDied": "a process ends",
    "OutOfMemory": "out of memory",
    "Race": "a buffer used while it travels",
    "Stuck": "it does not come to an end",
    "TimeLimit": "it takes too long",
}
GENERAL = frozenset({
    *(f"crashed:{kind}" for kind in ENDED),
    "changes-arguments", "changes-what-it-sends", "constant-factor", "cut-to-whole", "fails-alone", "fails-check",
    "ignores-group", "incomparable", "kept-between-calls", "lets-errors-through", "library-call", "little-overlap",
    "minus-own", "needs-shared-memory", "never-waited", "no-exception", "no-function", "not-a-number",
    "not-by-messages", "only-even-sizes", "only-floats", "only-powers-of-two", "only-root-zero", "only-two-ranks",
    "reads-before-wait", "rejects-right-answers", "single-precision", "starts-too-late", "too-slow", "waits-at-once",
    "wrong-array", "wrong-dtype", "wrong-exception", "wrong-shape", "wrong-type", "wrong-values",
})  # fmt: skip
_CONSTANT = re.compile(r'^(?:MISCONCEPTION|ALSO)\s*=\s*("[^"]*"|\[[^\]]*\])', re.MULTILINE)


@cache
def named(id: str) -> frozenset[str]:
    """The ids of all misconceptions that the course knows of the exercise ``id``."""
    topic, _, function = id.partition(".")
    own = _of_files(sorted((FOLDER / topic / function / "wrong").glob("[!_]*.py")))
    return GENERAL | own | _of_plain(topic, function)


def first_named(id: str, findings: Sequence[Finding]) -> str:
    """The first finding's misconception, if the course knows it of the exercise ``id``; else an empty text."""
    first = findings[0].misconception if findings else ""
    return first if first in named(id) else ""


def words(misconception: str) -> str:
    """``whole-tensor`` → "whole tensor", ``crashed:Deadlock`` → "ranks wait for each other"."""
    kind = misconception.removeprefix("crashed:")
    return ENDED.get(kind, kind) if kind != misconception else misconception.replace("-", " ").replace("_", " ")


def _of_files(files: Iterable[Path]) -> frozenset[str]:
    """What their constants say; a program of a learner's is read, and not imported."""
    found: set[str] = set()
    for file in files:
        for value in _CONSTANT.findall(file.read_text(encoding="utf-8")):
            with suppress(ValueError, SyntaxError):
                told = ast.literal_eval(value)
                found |= {told} if isinstance(told, str) else set(told)
    return frozenset(found)


def _of_plain(topic: str, function: str) -> frozenset[str]:
    """Of a teacher's plain exercise that is open here: those in its file, and in ``wrong/`` beside it."""
    file = file_of(topic, function)
    if file is None:
        return frozenset()
    from lockstep.checks.plain_exercise import known_wrong  # and torch with it

    beside = _of_files(sorted((file.parent / "wrong" / function).glob("[!_]*.py")))
    with suppress(LockstepError, OSError):
        return beside | {id for id, _ in known_wrong(read(file, topic)).values()}
    return beside
