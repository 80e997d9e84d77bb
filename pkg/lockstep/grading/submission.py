"""Reads a submission and restores its given cells, before anything of it runs.

The notebook is read as JSON, never opened by anything that would draw it. What is graded is made anew: the learner's
cells as they are, without outputs; what was given to be read, and the tests, as they were released. Whatever had to be
put right is noted, one sentence each; what cannot be read at all has the status WRONG_FORMAT and nothing to grade.

A lab's notebook says what it is, in its metadata, where the build wrote it and JupyterLab leaves it::

    {"lockstep": {"lab": "04_communication", "version": "0.2.0"}}

Another lab's is not graded. That of another version is, with a note: given cells that differ are not the learner's
doing then. One that says neither was made before notebooks did, and is graded as ever.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lockstep.distribution import VERSION

GRADED, WRONG_FORMAT, CRASHED, TIMED_OUT, TAMPERED, NOT_GRADED = (
    "graded", "wrong format", "crashed", "timed out", "tampered", "could not be graded",
)  # fmt: skip
NAME = "lab.ipynb"
MOST = 50_000_000  # bytes
MOST_CELLS = 2000
IGNORED = ("*.new*.ipynb", ".*")  # as nbgrader_config.py has it
AGAIN = "Open it in JupyterLab, see that it is your lab, save it, and hand it in once more."

Notebook = dict[str, Any]


class WrongFormat(Exception):
    """Why there is nothing to grade, and what to do: for the learner."""


@dataclass(frozen=True)
class Submission:
    """``notebook``: what is graded, None where nothing can be. ``notes``: what was put right, or what is wrong."""

    status: str
    notebook: Notebook | None = None
    notes: Sequence[str] = ()
    tampered: Sequence[str] = field(default=())  # grade ids


@dataclass(frozen=True)
class Made:
    """What a notebook says of itself; empty where it says nothing, or nothing of the kind."""

    lab: str = ""
    version: str = ""  # of the package

    def to_json(self) -> dict[str, str]:
        return {"lab": self.lab, "version": self.version}


def made(notebook: Any) -> Made:
    told = notebook
    for key in ("metadata", "lockstep"):
        told = told.get(key) if isinstance(told, dict) else None
    told = told if isinstance(told, dict) else {}
    return Made(*(_word(told.get(key)) for key in ("lab", "version")))


def _word(told: Any) -> str:
    return told if isinstance(told, str) and re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_.+-]{0,49}", told) else ""


def read(folder: Path, release: Notebook) -> Submission:
    """The submission in ``folder`` to the lab that was released as ``release``."""
    try:
        file, renamed = _file(folder, release)
        parsed = _parsed(file)
        mended = _Mended(_cells(parsed), release, made(parsed))
    except WrongFormat as error:
        return Submission(WRONG_FORMAT, None, [str(error)])
    notes = [*renamed, *mended.notes]
    return Submission(TAMPERED if mended.tampered else GRADED, mended.notebook, notes, mended.tampered)


def _file(folder: Path, release: Notebook) -> tuple[Path, list[str]]:
    """The notebook, and what is to be said of its name."""
    found = [p for p in sorted(folder.glob("*.ipynb")) if not any(fnmatch(p.name, pattern) for pattern in IGNORED)]
    if folder / NAME in found:
        return folder / NAME, []
    ours = [p for p in found if _is_of(p, release)]
    if len(ours) == 1:
        return ours[0], [f"Your notebook is named {ours[0].name}; it was graded as {NAME}, its name when you got it."]
    what = f"{len(ours)} notebooks of this lab, none named {NAME}" if ours else "no notebook of this lab"
    raise WrongFormat(f"You handed in {what}. Hand in one, {NAME}.")


def _is_of(file: Path, release: Notebook) -> bool:
    try:
        return bool(_exercise_ids(_cells(_parsed(file))) & _exercise_ids(release["cells"]))
    except WrongFormat:
        return False


def _parsed(file: Path) -> Any:
    return parsed(_bytes(file), file.name)


def _bytes(file: Path) -> bytes:
    """Of a plain file; a link could lead anywhere, and a pipe never ends."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise WrongFormat(
            f"{file.name} cannot be opened ({error.strerror}): hand in the file itself, no link."
        ) from None
    with os.fdopen(handle, "rb") as opened:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise WrongFormat(f"{file.name} is no file: hand in the notebook itself.")
        if status.st_size > MOST:
            raise WrongFormat(
                f"{file.name} has {status.st_size / 1e6:,.0f} MB; at most {MOST / 1e6:.0f} are graded. In JupyterLab: "
                "Kernel, Restart Kernel and Clear Outputs of All Cells; save it, and hand it in once more."
            )
        return opened.read(MOST + 1)


def parsed(data: bytes, name: str = NAME) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except RecursionError:
        raise WrongFormat(f"{name} is no notebook: it is nested too deeply. {AGAIN}") from None
    except UnicodeDecodeError:
        raise WrongFormat(f"{name} is no notebook: it is not text in UTF-8. {AGAIN}") from None
    except json.JSONDecodeError as error:
        what = f"line {error.lineno} is not JSON" if data.strip() else "it is empty"
        raise WrongFormat(f"{name} is no notebook: {what}. {AGAIN}") from None
    except ValueError:  # a number of more digits than Python reads
        raise WrongFormat(f"{name} is no notebook: it is not JSON. {AGAIN}") from None


def _cells(notebook: Any) -> list[dict[str, Any]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(c, dict) for c in cells):
        raise WrongFormat(f"{NAME} is no notebook: it has no list of cells. {AGAIN}")
    if len(cells) > MOST_CELLS:
        raise WrongFormat(f"{NAME} has {len(cells):,} cells; at most {MOST_CELLS:,} are graded. Delete what you added.")
    return [_plain(c) for c in cells]


def _plain(cell: dict[str, Any]) -> dict[str, Any]:
    """The cell's kind, text and, if it is a tagged one, its tag; nothing else of it."""
    text = _text(cell).encode("utf-8", "replace").decode()  # a lone surrogate is no text
    kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "raw"
    metadata = {"nbgrader": {"grade_id": grade_id(cell)}} if grade_id(cell) else {}
    return {"cell_type": kind, "metadata": metadata, "source": text}


def _text(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def grade_id(cell: Mapping[str, Any]) -> str:
    """As in "answer-ring_all_reduce"; empty for a cell of the learner's own."""
    found: Any = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _exercise_ids(cells: Sequence[Mapping[str, Any]]) -> set[str]:
    """Of answers and tests; the other tags are those of every lab."""
    return {id for id in map(grade_id, cells) if id.startswith(("answer-", "tests-"))}


class _Mended:
    """The notebook to grade, what was put right, and which given cells were not as they had been given."""

    def __init__(self, cells: list[dict[str, Any]], release: Notebook, made_as: Made) -> None:
        self.notes: list[str] = []
        self.tampered: list[str] = []
        self._given = {grade_id(c): c for c in release["cells"] if grade_id(c)}
        here = {grade_id(c) for c in cells}
        self._compare_labs(made_as.lab, made(release).lab, bool(here & _exercise_ids(release["cells"])))
        self._is_of_other_version = made_as.version not in ("", VERSION)
        if self._is_of_other_version:
            self._compare_versions(made_as.version, here)
        cells = [self._own(c) for c in self._single(cells)]
        for before, cell in self._missing(here):
            at = next((i for i, c in enumerate(cells) if grade_id(c) == before), -1)
            cells.insert(at + 1 if before else 0, dict(cell))
        head = {key: release[key] for key in ("metadata", "nbformat", "nbformat_minor")}
        self.notebook: Notebook = {**head, "cells": [_numbered(c, i) for i, c in enumerate(cells)]}

    def _compare_labs(self, its: str, ours: str, has_ours: bool) -> None:
        if not has_ours and its != ours and its and ours:
            raise WrongFormat(f"{NAME} is the notebook of {its}, and this is {ours}: hand in the one of {ours}.")
        if not has_ours:
            raise WrongFormat(f"{NAME} holds no answer and no test of this lab: it is another notebook. {AGAIN}")
        if its != ours and its and ours:
            self.notes.append(f"Your notebook is that of {its}; it has cells of {ours}, and these were graded.")

    def _compare_versions(self, its: str, here: set[str]) -> None:
        """What a version had not may cost nobody points."""
        names = [id.removeprefix("tests-") for id, c in self._given.items() if c["metadata"]["nbgrader"].get("grade")]
        lacking = [name for name in names if not here & {f"answer-{name}", f"tests-{name}"}]
        if lacking:
            raise WrongFormat(
                f"Your notebook was made with Lockstep {its} and has no {', '.join(lacking)}, which is graded with "
                f"{VERSION}. Start `lockstep lab`, put your answers into the new version of the lab, and "
                "hand that in."
            )
        self.notes.append(f"Your notebook was made with Lockstep {its}, and graded with {VERSION}.")

    def _single(self, cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Each tag once: the last cell that has it, as the last definition of a function is the one that counts."""
        left = Counter(map(grade_id, cells))
        for cell in cells:
            id = grade_id(cell)
            left[id] -= 1
            if id in self._given and left[id]:
                kept = "the last one counts" if _is_answer(self._given[id]) else "it was graded once"
                self.notes.append(f"The cell {id} is there more than once; {kept}.")
                if not _is_answer(self._given[id]):
                    continue
                cell = {**cell, "metadata": {}}
            yield cell if grade_id(cell) in self._given else {**cell, "metadata": {}}

    def _own(self, cell: dict[str, Any]) -> dict[str, Any]:
        given = self._given.get(grade_id(cell))
        if given is None:
            return cell
        if _is_answer(given):
            return {**given, "source": cell["source"]}
        if cell["source"].strip() != given["source"].strip() or cell["cell_type"] != given["cell_type"]:
            self._restore(given, "was changed")
        return dict(given)

    def _missing(self, here: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Given cells that are gone, each with the tag before it. An answer that is gone is none."""
        before = ""
        for id, cell in self._given.items():
            if id not in here and not _is_answer(cell):
                self._restore(cell, "is missing")
                yield before, cell
            elif id not in here:
                self.notes.append(f"The cell {id} is missing; if you wrote its function elsewhere, that was graded.")
                continue
            before = id

    def _restore(self, cell: dict[str, Any], what: str) -> None:
        tests = "tests" if cell["metadata"]["nbgrader"].get("grade") else "text"
        if cell["cell_type"] == "code" and not self._is_of_other_version:
            self.tampered.append(grade_id(cell))
            self.notes.append(f"The cell {grade_id(cell)} {what}; it was graded with the {tests} as given.")


def _is_answer(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"]["nbgrader"].get("solution"))


def _numbered(cell: dict[str, Any], number: int) -> dict[str, Any]:
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
    kept = {key: cell[key] for key in ("cell_type", "metadata", "source")}
    return {**kept, "id": grade_id(cell)[:64] or f"own-{number}"} | code


def whole(notebook: Notebook) -> Notebook:
    """The notebook with each cell's text as one text, as nbformat reads it."""
    return {**notebook, "cells": [{**c, "source": _text(c)} for c in notebook["cells"]]}


def text_of(notebook: Notebook) -> str:
    """As Jupyter writes it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
