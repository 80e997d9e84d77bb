"""Where a learner's code stands: "Cell In[6], line 4, in ring" instead of a path into the library.

Functions travel to other processes; the sources of notebook cells travel with them (``Sources``), so that every world
can name and quote the learner's own line.
"""

from __future__ import annotations

import linecache
import os
import re
import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

_LIBRARY = tuple(
    os.path.join(os.path.realpath(p), "")
    for p in {
        os.path.dirname(__file__),
        sysconfig.get_paths()["stdlib"],
        sysconfig.get_paths()["purelib"],
        sysconfig.get_paths()["platlib"],
        sysconfig.get_paths()["scripts"],  # the command that has started us
        *site.getsitepackages(),
    }
)


# Known answers to exercises are a learner's code, wherever they stand.
_ANSWERS = (os.path.join(os.path.realpath(os.path.dirname(__file__)), "exercises", ""), ("wrong", "right"))


class Place(NamedTuple):
    """A line of the learner's code."""

    file: str  # as a person names it: "Cell In[6]" or "ring.py"
    line: int
    function: str
    source: str

    def __str__(self) -> str:
        inside = "" if self.function in ("<module>", "<lambda>") else f", in {self.function}"
        return f"{self.file}, line {self.line}{inside}" if self.file else ""


NOWHERE = Place("", 0, "", "")


@dataclass(frozen=True)
class Sources:
    """What it takes to quote a notebook's cells in another process."""

    lines: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # linecache entries
    cells: dict[str, str] = field(default_factory=dict)  # file name → "Cell In[6]"

    @classmethod
    def here(cls) -> Sources:
        """The cells of this process: empty outside IPython."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        if shell is None:
            return cls()
        numbers = getattr(shell.compile, "_filename_map", {})
        lines = {k: v for k, v in linecache.cache.items() if k in numbers and len(v) == 4}
        return cls(lines, {name: f"Cell In[{number}]" for name, number in numbers.items()})

    def install(self) -> None:
        """Make this process quote these cells."""
        linecache.cache.update(self.lines)
        _cells.update(self.cells)
        place.cache_clear()


_cells: dict[str, str] = {}
_mine: dict[str, bool] = {}

# Where nothing of the learner's is ever called: torch's own functions for communication, what it wraps the blocking
# ones in, and the reference algorithms.
_TORCHS = os.path.join("torch", "distributed", "")
_SILENT = (f"{_TORCHS}distributed_c10d.py", f"{_TORCHS}c10d_logger.py", os.path.join("lockstep", "collectives", ""))
_seen: dict[int, dict[int, CodeType]] = {}  # those that a learner's line has called: by how far up they stood, by id


def outermost(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a rank's function: the learner's lines are looked for from here on inwards.

    Under a launcher the script that called ``run`` or ``check`` stands further out. It is no part of what the rank
    does: an operation of the library's own would bear its line."""
    return fn(*args, **kwargs)


_OUTERMOST = outermost.__code__


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to Lockstep, and not to the learner."""
    known = _mine.get(filename)
    if known is None:
        path = os.path.realpath(filename)
        inside = filename.startswith("<frozen") or (path.startswith(_LIBRARY) and not _is_answer(path))
        known = _mine[filename] = inside and filename not in _cells
    return known


def _is_answer(path: str) -> bool:
    exercises, folders = _ANSWERS
    return path.startswith(exercises) and os.path.basename(os.path.dirname(path)) in folders


@lru_cache(10_000)
def place(filename: str, line: int, function: str) -> Place:
    name = _cells.get(filename) or os.path.basename(filename)
    return Place(name, line, function, linecache.getline(filename, line).strip())


def line_of(frame: FrameType) -> int:
    """Where it stands; the first line of its function, where Python does not say, as at some instructions of a
    generator expression."""
    return frame.f_lineno or frame.f_code.co_firstlineno


def of_frame(frame: FrameType | None) -> Place:
    """The innermost line of the learner's at or above ``frame``."""
    found, _ = _search(frame)
    return _of(found) if found else NOWHERE


def here() -> Place:
    """The learner's line that led to the caller.

    The same calls lead here again and again. Where a function stands as far up as it did before, and calls nothing of
    the learner's, its caller is the one: no need to look at each frame in between, which takes five times as long.
    """
    for distance, functions in _seen.items():
        try:
            frame = sys._getframe(distance)
        except ValueError:  # there are not so many frames
            continue
        if id(frame.f_code) in functions and (caller := frame.f_back):
            code = caller.f_code
            if _mine.get(code.co_filename) is False:  # it is the learner's
                return place(code.co_filename, line_of(caller), code.co_name)
    found, called = _search(sys._getframe(1))
    if called and any(part in called[-1].co_filename for part in _SILENT):
        _seen.setdefault(len(called), {})[id(called[-1])] = called[-1]
    return _of(found) if found else NOWHERE


def _search(frame: FrameType | None) -> tuple[FrameType | None, list[CodeType]]:
    """The innermost frame of the learner's, and what was called from there on, innermost first."""
    called: list[CodeType] = []
    while frame is not None and is_library(frame.f_code.co_filename):
        called.append(frame.f_code)
        frame = frame.f_back if frame.f_code is not _OUTERMOST else None
    return frame, called


def _of(frame: FrameType) -> Place:
    return place(frame.f_code.co_filename, line_of(frame), frame.f_code.co_name)


def of_stack(frames: Iterable[tuple[str, int, str]]) -> Place:
    """The same for frames as faulthandler prints them: (file, line, function), innermost first."""
    return next((place(*f) for f in frames if not is_library(f[0])), NOWHERE)


def learners_traceback(error: BaseException, tb: TracebackType | None = None) -> str:
    """The traceback of ``error`` without the library's frames, cells named as in the notebook."""
    frames = traceback.extract_tb(tb or error.__traceback__)
    places = [place(f.filename, f.lineno or 0, f.name) for f in frames if not is_library(f.filename)]
    quoted = _shortened([f"  {p}\n    {p.source}" for p in places])
    told = "".join(traceback.format_exception_only(error))
    return "\n".join([*quoted, without_library(told).rstrip()])


def without_library(message: str) -> str:
    """An exception that passed through C++ has its stack in its message: "At:\\n  /home/.../ring.py(12): ring"."""
    if "\nAt:\n" not in message:
        return message

    def line(frame: re.Match[str]) -> str:
        file, number, function = frame.groups()
        return "" if is_library(file) else f"  {place(file, int(number), function)}\n"

    mine = re.sub(r"^  (\S+)\((\d+)\): (\S+)(?:\n|$)", line, message, flags=re.MULTILINE)
    return re.sub(r"\n+At:\n(?!  )", "\n", re.sub(r"\n{3,}", "\n\n", mine))


def _shortened(quoted: list[str], most: int = 8) -> list[str]:
    """Both ends of a deep recursion."""
    if len(quoted) <= most:
        return quoted
    half = most // 2
    return [*quoted[:half], f"  ... {len(quoted) - 2 * half} more calls ...", *quoted[-half:]]


def innermost(error: BaseException) -> Place:
    """The learner's line that raised ``error``."""
    frames = traceback.extract_tb(error.__traceback__)
    return of_stack((f.filename, f.lineno or 0, f.name) for f in reversed(frames))
