"""The board's memory: a file to which each accepted report is appended as one line of JSON.

The first line has the board's token, so that a board that is started again has the address that learners know. What
was answered with "received" has been handed to the operating system: it survives the end of this process, however
that came. The disk is told to keep it once a second (``sync``), so a loss of power may cost the last second.
A line that was cut off by the end of the process was never answered, and is taken away; its sender sends it again.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from lockstep.classroom.learners import Learners
from lockstep.errors import UsageError
from lockstep.reports.report import Answers, Report, Result

VERSION = 1
BEGINS = b'{"board":'  # somebody else's file is left as it is
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that looks like another
MOST_BYTES = 512_000_000


class Journal:
    """An open journal: ``token``, and what its lines say. One process at a time has it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable = 0  # lines in the middle that say nothing
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise UsageError(f"The board cannot keep {path}: {error.strerror}.", "Name another: --keep FILE.") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise UsageError(f"Another board has {path}.", "End that one, or keep another file: --keep FILE.") from None
        self._length = self._cut()
        self.token = self._begin()

    def _cut(self) -> int:
        """Take away a last line without its end; how long the file is."""
        text = self.path.read_bytes()
        if text and not text.startswith(BEGINS):
            raise self._not_a_boards()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            os.ftruncate(self._file, whole)
        return whole

    def _begin(self) -> str:
        if not self._length:
            drawn = "".join(secrets.choice(LETTERS) for _ in range(12))
            self._append({"board": VERSION, "token": drawn})
        with self.path.open(encoding="utf-8", errors="replace") as lines, suppress(ValueError, KeyError, TypeError):
            head = json.loads(lines.readline())
            if head["board"] == VERSION and isinstance(head["token"], str) and head["token"]:
                return head["token"]
        raise self._not_a_boards()

    def _not_a_boards(self) -> UsageError:
        os.close(self._file)
        return UsageError(f"{self.path} is no board's file.", "Name another: --keep FILE.")

    def replay(self, learners: Learners) -> None:
        """Tell ``learners`` everything that was noted. Who has left is forgotten, here and in the file."""
        gone, self.unreadable = replayed(self.path, learners)
        if gone:
            self._rewrite(learners)

    def note(self, report: Report, results: list[Result], at: float) -> None:
        """Append the ``results`` of a report. Raises OSError where that cannot be; the file is as it was then."""
        rows = [[r.number, r.exercise, r.points, r.misconception] for r in results]
        self._append({"at": round(at), "learner": report.learner, "nickname": report.nickname, "results": rows})

    def note_answers(self, given: Answers, at: float) -> None:
        self._append({"at": round(at), "learner": given.learner, "form": given.form, "answers": given.answers})

    def note_left(self, learner: str) -> None:
        self._append({"left": learner})

    def sync(self) -> None:
        with suppress(OSError):
            os.fsync(self._file)

    def close(self) -> None:
        self.sync()
        os.close(self._file)

    def _append(self, told: dict[str, Any]) -> None:
        line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if self._length + len(line) > MOST_BYTES:
            raise OSError(f"{self.path} has {MOST_BYTES} bytes")
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError("there is no room")
        except OSError:
            os.ftruncate(self._file, self._length)
            raise
        self._length += len(line)

    def _rewrite(self, learners: Learners) -> None:
        """Write what ``learners`` know, and nobody else's lines; the new file takes the old one's place at once."""
        lines = [json.dumps({"board": VERSION, "token": self.token}), *map(json.dumps, _kept(self.path, learners))]
        new = self.path.with_name(self.path.name + ".new")
        handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        text = "".join(f"{line}\n" for line in lines).encode()
        with os.fdopen(os.dup(handle), "wb") as out:
            out.write(text)
        os.fsync(handle)
        os.replace(new, self.path)
        os.close(self._file)
        self._file, self._length = handle, len(text)


def replayed(path: Path, learners: Learners) -> tuple[bool, int]:
    """Tell ``learners`` what a journal says, which may be in use: whether somebody has left, and how many of its lines
    cannot be read. Raises UsageError where there is none."""
    gone, unreadable = False, 0
    for told in _lines(path):
        try:
            gone = _replay(told, learners) or gone
        except (ValueError, KeyError, TypeError):
            unreadable += 1
    return gone, unreadable


def _lines(path: Path) -> Iterator[Any]:
    """What the lines after the first say; None for one that is no JSON."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", "Name a board's file: --keep FILE.") from None
    for line in lines[1:]:
        try:
            yield json.loads(line)
        except ValueError:
            yield None


def _kept(path: Path, learners: Learners) -> Iterator[Any]:
    """The lines of those who are still there, since they have joined last."""
    told = [line for line in _lines(path) if isinstance(line, dict)]
    left = {line["left"]: number for number, line in enumerate(told) if "left" in line}
    for number, line in enumerate(told):
        who = line.get("learner")
        if who in learners.by_id and number > left.get(who, -1):
            yield line


def _replay(told: dict[str, Any], learners: Learners) -> bool:
    """Whether somebody has left."""
    if "left" in told:
        learners.forget(told["left"])
        return True
    if "form" in told:
        learners.take_answers(Answers(told["learner"], told["form"], told["answers"]), told["at"])
        return False
    results = tuple(Result(*row) for row in told["results"])
    learners.take(Report(told["learner"], told["nickname"], results), told["at"])
    return False
