"""The folder that a learner works in: the course's notebooks, copied there once and never written over.

``bring`` copies what is missing. A new version of a notebook takes the old one's place if nothing of the learner's
would be lost: no text was changed, and each output belongs to a cell that is still the same and keeps it. Else the
learner's notebook stays, and the new version is put next to it, as ``lesson.new.ipynb``.

A version that has the same text, and only says that it is another, brings no new notebook: what a learner has begun
goes on saying which version it was made with.

``.lockstep-course/copied.json`` in the folder remembers, for each path, the version that was brought last, its text,
and the texts of all versions so far::

    {"course/04_communication/lesson.ipynb": {"brought": "<sha256>", "text": "<sha256>", "works": ["<sha256>", …]}}

Each file is written whole or not at all, after the record knows its text and before the record says that it was
brought: a run that was interrupted is taken up where it stopped. A lost record costs no work: what differs from the new
version then counts as the learner's.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from lockstep.errors import UsageError
from lockstep.grading.course import MARK, PACKED
from lockstep.grading.material import material

DEFAULT = "my-course"  # in a clone, where git ignores it
OTHER = "`lockstep lab DIR` takes any empty folder, and makes one that is not there yet."


@dataclass
class Brought:
    """What became of the files, by their paths in the folder."""

    first: bool  # the folder was empty
    copied: list[str] = field(default_factory=list)  # they were not there
    beside: dict[str, str] = field(default_factory=dict)  # the learner's, and where the new version is
    used: list[str] = field(default_factory=list)  # of those: somebody had worked in them in Lockstep's own folder


def working_folder(root: Path) -> Path:
    """The default: the working folder that this is in, that of the clone, or one in the home folder."""
    here = Path.cwd()
    inside = [folder for folder in (here, *here.parents) if (folder / MARK).is_dir()]
    return inside[0] if inside else Path.home() / "lockstep-course" if root == PACKED else root / DEFAULT


def bring(root: Path, folder: Path) -> Brought:
    """Copy the course at ``root`` into ``folder``, and what is new of it when it was copied before.

    Raises UsageError, in one sentence and before a learner's file is touched, where the folder cannot be used."""
    try:
        _refuse(root, folder)
        (folder / MARK).mkdir(parents=True, exist_ok=True)
        with _alone(folder / MARK):
            return _Copy(root, folder).bring()
    except OSError as error:
        where = error.filename2 or error.filename or folder
        blocked = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "a folder is wanted there, and it is a file" if blocked else error.strerror
        raise UsageError(
            f"The course cannot be copied to {where}: {reason}. Your files are as they were.", OTHER
        ) from None


def _refuse(root: Path, folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, and your work needs a folder.", OTHER)
    inside = _real(folder).relative_to(root).parts if _real(folder).is_relative_to(root) else None
    if inside is not None and not (inside and inside[0].startswith(DEFAULT)):
        raise UsageError(f"{folder} belongs to Lockstep itself, where your work would be mixed with its files.", OTHER)
    if not (folder / MARK).is_dir() and _others(folder):
        raise UsageError(f"{folder} holds other files already ({_others(folder)[0]}).", OTHER)


def _real(path: Path) -> Path:
    """Where all links lead to; a circle of links stays as it is, and opening it will fail."""
    return Path(os.path.realpath(path))


def _others(folder: Path) -> list[str]:
    """Files that somebody put there; a new disk has a lost+found of its own."""
    names = os.listdir(folder) if folder.is_dir() else []
    return sorted(name for name in names if not name.startswith(".") and name != "lost+found")


class _Copy:
    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.record = _read_record(folder)
        self.brought = Brought(first=not _others(folder))

    def bring(self) -> Brought:
        versions = {path: (self.root / path).read_bytes() for path in material(self.root)}
        for path, new in versions.items():
            self._refuse_to_leave(self.folder / path)
            works = self.record.setdefault(path, {"brought": "", "text": "", "works": []})["works"]
            if not _is_used(new) and _work(new) not in works:
                works.append(_work(new))
        self._keep_record()
        for path, new in versions.items():
            self._bring(path, new)
        self._keep_record()
        return self.brought

    def _bring(self, path: str, new: bytes) -> None:
        mine, known = self.folder / path, self.record[path]
        if not os.path.lexists(mine):
            self._write(mine, new)
            self.brought.copied.append(path)
        elif known["brought"] == _sha(new):
            return
        elif not self._renewed(mine, new, known["works"]) and (known["text"] != _work(new) or _is_used(new)):
            self.brought.beside[path] = self._beside(mine, new, known["works"])
        if _is_used(new):
            self.brought.used.append(path)
        known.update(brought=_sha(new), text=_work(new))

    def _keep_record(self) -> None:
        if self.record != _read_record(self.folder):
            data = (json.dumps(self.record, indent=1) + "\n").encode()
            self._write(self.folder / MARK / "copied.json", data)

    def _beside(self, mine: Path, new: bytes, works: list[str]) -> str:
        """Write the new version under the first name that is free, or that the learner has changed nothing under."""
        for n in count(1):
            place = mine.with_name(f"{mine.stem}.new{f'-{n}' if n > 1 else ''}{mine.suffix}")
            if not os.path.lexists(place):
                self._write(place, new)
                break
            if self._renewed(place, new, works):
                break
        return place.relative_to(self.folder).as_posix()

    def _renewed(self, place: Path, new: bytes, works: list[str]) -> bool:
        """Replace an old version by the new one, if nothing of the learner's is lost by it."""
        if place.is_symlink() or not place.is_file():
            return False
        old = place.read_bytes()
        if _work(old) not in [*works, _work(new)]:
            return False
        with_outputs = _with_outputs(old, new)
        if with_outputs is None or place.read_bytes() != old:  # JupyterLab has saved it just now
            return False
        if with_outputs != old:
            self._write(place, with_outputs)
        return True

    def _write(self, place: Path, data: bytes) -> None:
        """Atomically: into a temporary file first, which is then renamed."""
        place.parent.mkdir(parents=True, exist_ok=True)
        coming = self.folder / MARK / f"coming-{os.getpid()}"
        try:
            with coming.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(coming, place)
        finally:
            coming.unlink(missing_ok=True)

    def _refuse_to_leave(self, place: Path) -> None:
        """A folder that is a link could lead anywhere, into Lockstep's own files too."""
        if not _real(place.parent).is_relative_to(_real(self.folder)):
            raise UsageError(
                f"{place.parent} leads to another place, {_real(place.parent)}.",
                "Move that link away; Lockstep makes a folder there, and touches nothing behind the link.",
            )


def _read_record(folder: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((folder / MARK / "copied.json").read_text(encoding="utf-8"))
        return {
            path: {"brought": str(was["brought"]), "text": str(was.get("text", "")), "works": list(was["works"])}
            for path, was in record.items()
        }
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return {}


@contextmanager
def _alone(mark: Path) -> Iterator[None]:
    """Take the folder's lock, or wait for it. Temporary files of a process that was killed while writing are deleted.

    Where files cannot be locked, it goes on without."""
    handle = os.open(mark, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
            for left in mark.glob("coming-*"):
                left.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _notebook(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
        whole = isinstance(found["metadata"], dict) and all(isinstance(cell, dict) for cell in found["cells"])
        return found if whole else None
    except (ValueError, TypeError, KeyError):
        return None


def _text(cell: dict[str, Any]) -> str:
    """What a learner can have changed of a cell. Metadata are none of it: JupyterLab writes them by itself."""
    source = cell.get("source", "")
    whole = source if isinstance(source, str) else "".join(map(str, source))
    return json.dumps([cell.get("cell_type"), whole, cell.get("attachments", {})], sort_keys=True)


def _work(data: bytes) -> str:
    """The same for two files if they hold the same text: for notebooks without metadata and outputs."""
    nb = _notebook(data)
    return _sha(data if nb is None else "\n".join(map(_text, nb["cells"])).encode())


def _with_outputs(old: bytes, new: bytes) -> bytes | None:
    """The new notebook with the old one's outputs; None where one of them has no place any more."""
    mine, renewed = _notebook(old), _notebook(new)
    if mine is None or renewed is None:
        return new
    ran = [cell for cell in mine["cells"] if cell.get("outputs")]
    if not ran:
        return new
    cells = {text: [c for c in renewed["cells"] if _text(c) == text] for text in map(_text, ran)}
    for cell in ran:
        if not cells[_text(cell)]:
            return None
        cells[_text(cell)].pop(0).update(outputs=cell["outputs"], execution_count=cell.get("execution_count"))
    renewed["metadata"] = mine["metadata"] | renewed["metadata"]  # the state of widgets
    return (json.dumps(renewed, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _is_used(data: bytes) -> bool:
    """Whether somebody has worked in this notebook of the course's own: a built one was never run nor saved."""
    nb = _notebook(data)
    if nb is None:
        return False
    ran = chain.from_iterable((c.get("outputs"), c.get("execution_count")) for c in nb["cells"])
    return any(ran) or bool(set(nb["metadata"].get("language_info", {})) - {"name"})
