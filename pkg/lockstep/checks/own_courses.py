"""Where a teacher's plain exercises are. Nothing here reads one.

    course/NN_topic/FUNCTION.py    in a course at or above the working directory, or in this clone of Lockstep
    exercises.json                 in the working directory, beside a lab's notebook: what a learner gets of them

A folder is a course if it has ``course/`` and nbgrader's settings; or ``course/`` and one plain exercise, which is
how a course begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

OTHERS = ("lesson", "more", "lab", "index")  # sources of notebooks, beside which plain exercises may stand
HANDED_OUT = "exercises.json"
SETTINGS = "nbgrader_config.py"
_UNIT = re.compile(r"(\d\d)_([a-z][a-z0-9_]*)")


def is_course(folder: Path) -> bool:
    """Whether a course stands in ``folder``: the sources, or a copy of them."""
    if not (folder / "course").is_dir():
        return False
    return (folder / SETTINGS).is_file() or any(map(_is_begun, plain_files(folder)))


def courses() -> Iterator[Path]:
    """The courses at or above the working directory, and the clone that this package is in."""
    here = Path.cwd()
    yield from dict.fromkeys(folder for folder in (here, *here.parents, *_clone()) if is_course(folder))


@cache
def _clone() -> tuple[Path, ...]:
    return tuple(folder for folder in Path(__file__).resolve().parents if (folder / SETTINGS).is_file())


def plain_files(course: Path, topic: str = "*") -> list[Path]:
    """The plain exercises of a course, or of one topic of it, by unit and name."""
    folders = sorted(f for f in (course / "course").glob(f"[0-9][0-9]_{topic}") if _UNIT.fullmatch(f.name))
    return [path for folder in folders for path in sorted(folder.glob("[!_.]*.py")) if path.stem not in OTHERS]


def unit_of(folder: Path) -> tuple[int, str] | None:
    """``01_averages`` → (1, "averages"); None for a folder that is no unit's."""
    found = _UNIT.fullmatch(folder.name)
    return (int(found[1]), found[2]) if found else None


def topic_of(file: Path) -> str:
    """The topic of a plain exercise: its folder's name, without a number before it."""
    name = re.sub(r"^\d+_", "", file.resolve().parent.name)
    return re.sub(r"\W", "_", name) or "own"


def file_of(topic: str, function: str) -> Path | None:
    """The file of a plain exercise of a course that is open here, if there is one."""
    found = (path for course in courses() for path in plain_files(course, topic) if path.stem == function)
    return next(found, None)


def handed_out(folder: Path | None = None) -> dict[str, str]:
    """By id, the texts of plain exercises in ``folder``, by default the working directory, as learners get them."""
    try:
        told = json.loads(((folder or Path.cwd()) / HANDED_OUT).read_text(encoding="utf-8"))
        return {str(id): str(text) for id, text in told["exercises"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _is_begun(file: Path) -> bool:
    """Whether it has the function that it is named after: so a folder of other programs is no course."""
    try:
        return re.search(rf"^def {file.stem}\b", file.read_text(encoding="utf-8"), re.MULTILINE) is not None
    except (OSError, UnicodeError):
        return False
