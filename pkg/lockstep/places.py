"""Source locations in the learner's own code: "Cell In[6], line 4, in ring" instead of a frame of the library.

A function that is sent to other processes takes the sources of the notebook's cells along (``Sources``), so that every
world can name and quote the learner's line.
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


# Known answers to exercises count as a learner's code, although they are part of the package.
_ANSWERS = (os.path.join(os.path.realpath(os.path.dirname(__file__)), "exercises", ""), ("wrong", "right"))


class Helper(NamedTuple):
    """A line of a function that the learner's line has called."""

    file: str
    line: int
    function: str


class Place(NamedTuple):
    """A line of the learner's code. Where a check runs an exercise, it is the line of the exercise's own function that
    led there, and ``helper`` the innermost line, if that is in another function of the learner's."""

    file: str  # as a person names it: "Cell In[6]" or "ring.py"
    line: int
    function: str
    source: str
    helper: Helper | None = None

    def __str__(self) -> str:
        inside = "" if self.function in ("<module>", "<lambda>") else f", in {self.function}"
        return f"{self.file}, line {self.line}{inside}{self._called()}" if self.file else ""

    def _called(self) -> str:
        if self.helper is None or self.helper.function.startswith("<"):
            return ""
        file = "" if self.helper.file == self.file else f"{self.helper.file}, "
        return f" (in {self.helper.function}, {file}line {self.helper.line})"

    @property
    def innermost(self) -> Helper:
        return self.helper or Helper(self.file, self.line, self.function)


NOWHERE = Place("", 0, "", "")
Line = tuple[str, int, str]  # file as Python names it, number, function


@dataclass(frozen=True)
class Sources:
    """The sources and names of a notebook's cells, to quote them in another process."""

    lines: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # linecache entries
    cells: dict[str, str] = field(default_factory=dict)  # file name → "Cell In[6]"

    @classmethod
    def here(cls) -> Sources:
        """The cells of this process; empty outside IPython."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        if shell is None:
            return cls()
        numbers = getattr(shell.compile, "_filename_map", {})
        lines = {k: v for k, v in linecache.cache.items() if k in numbers and len(v) == 4}
        return cls(lines, {name: f"Cell In[{number}]" for name, number in numbers.items()})

    def install(self) -> None:
        """Let this process quote these cells."""
        linecache.cache.update(self.lines)
        _cells.update(self.cells)
        place.cache_clear()
        _led_from.cache_clear()


_cells: dict[str, str] = {}
_mine: dict[str, bool] = {}

# Files that never call the learner's code: torch's functions for communication, the wrapper of its blocking ones, and
# the reference algorithms.
_TORCHS = os.path.join("torch", "distributed", "")
_SILENT = (f"{_TORCHS}distributed_c10d.py", f"{_TORCHS}c10d_logger.py", os.path.join("lockstep", "collectives", ""))
_CHECKS = os.path.join("lockstep", "checks", "rank_program.py")  # it calls an exercise's function
_seen: dict[int, dict[int, CodeType]] = {}  # functions of these that a learner's line has called: by depth, by id


def outermost(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a rank's function. The search for the learner's line ends at this frame.

    Under a launcher the script that called ``run`` or ``check`` is further out on the stack. Its line is not part of
    the rank's function, and must not be reported for an operation of the library's own."""
    return fn(*args, **kwargs)


_OUTERMOST = outermost.__code__


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to Lockstep, rather than to the learner."""
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
    """The line number of a frame; the first line of its function where Python has none, as at some instructions of a
    generator expression."""
    return frame.f_lineno or frame.f_code.co_firstlineno


def of_frame(frame: FrameType | None) -> Place:
    """The innermost learner's line at or above ``frame``."""
    found, _ = _search(frame)
    return _of(found) if found else NOWHERE


def here() -> Place:
    """The learner's line that led to the caller.

    The same call paths recur: if a known library function is at the same depth of the stack as before, its caller is
    the learner's frame. Checking that first is five times as fast as walking the stack.
    """
    for distance, functions in _seen.items():
        try:
            frame = sys._getframe(distance)
        except ValueError:  # there are not so many frames
            continue
        if id(frame.f_code) in functions and (caller := frame.f_back):
            code = caller.f_code
            if _mine.get(code.co_filename) is False:  # it is the learner's
                return _of(caller)
    found, called = _search(sys._getframe(1))
    if called and any(part in called[-1].co_filename for part in _SILENT):
        _seen.setdefault(len(called), {})[id(called[-1])] = called[-1]
    return _of(found) if found else NOWHERE


def _search(frame: FrameType | None) -> tuple[FrameType | None, list[CodeType]]:
    """The innermost learner's frame, and the library functions called from there on, innermost first."""
    called: list[CodeType] = []
    while frame is not None and is_library(frame.f_code.co_filename):
        called.append(frame.f_code)
        frame = frame.f_back if frame.f_code is not _OUTERMOST else None
    return frame, called


def _of(frame: FrameType) -> Place:
    asked = _asked(frame)
    return _led_from(_line(asked), _line(frame)) if asked else place(*_line(frame))


def _line(frame: FrameType) -> Line:
    return frame.f_code.co_filename, line_of(frame), frame.f_code.co_name


def _asked(frame: FrameType) -> FrameType | None:
    """In the run of an exercise: the innermost frame of the function that the check has called."""
    mine: list[FrameType] = []
    above: FrameType | None = frame
    while above is not None and above.f_code is not _OUTERMOST:
        if not is_library(above.f_code.co_filename):
            mine.append(above)
        elif above.f_code.co_filename.endswith(_CHECKS):
            return next((f for f in mine if f.f_code is mine[-1].f_code), None)
        above = above.f_back
    return None


def of_stack(frames: Iterable[Line]) -> Place:
    """The learner's line of a stack as faulthandler prints it, innermost first; see ``Place``."""
    mine: list[Line] = []
    for line in frames:
        if not is_library(line[0]):
            mine.append(line)
        elif line[0].endswith(_CHECKS) and mine:
            asked = next(f for f in mine if (f[0], f[2]) == (mine[-1][0], mine[-1][2]))
            return _led_from(asked, mine[0])
    return place(*mine[0]) if mine else NOWHERE


@lru_cache(10_000)
def _led_from(asked: Line, innermost: Line) -> Place:
    """The line of the exercise's function, and in brackets the one that it has led to."""
    inner = place(*innermost)
    helper = Helper(inner.file, inner.line, inner.function) if asked != innermost else None
    return place(*asked)._replace(helper=helper)


def learners_traceback(error: BaseException, tb: TracebackType | None = None) -> str:
    """The traceback of ``error`` without the library's frames, with cells named as in the notebook."""
    frames = traceback.extract_tb(tb or error.__traceback__)
    places = [place(f.filename, f.lineno or 0, f.name) for f in frames if not is_library(f.filename)]
    quoted = _shortened([f"  {p}\n    {p.source}" for p in places])
    told = "".join(traceback.format_exception_only(error))
    return "\n".join([*quoted, without_library(told).rstrip()])


def without_library(message: str) -> str:
    """A message without the library's frames, which pybind11 appends to an exception that passed through C++:
    "At:\\n  /home/.../ring.py(12): ring"."""
    if "\nAt:\n" not in message:
        return message

    def line(frame: re.Match[str]) -> str:
        file, number, function = frame.groups()
        return "" if is_library(file) else f"  {place(file, int(number), function)}\n"

    mine = re.sub(r"^  (\S+)\((\d+)\): (\S+)(?:\n|$)", line, message, flags=re.MULTILINE)
    return re.sub(r"\n+At:\n(?!  )", "\n", re.sub(r"\n{3,}", "\n\n", mine))


def _shortened(quoted: list[str], most: int = 8) -> list[str]:
    """The first and the last calls of a deep recursion."""
    if len(quoted) <= most:
        return quoted
    half = most // 2
    return [*quoted[:half], f"  ... {len(quoted) - 2 * half} more calls ...", *quoted[-half:]]


def innermost(error: BaseException) -> Place:
    """The learner's line that raised ``error``."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    return next((place(f.filename, f.lineno or 0, f.name) for f in frames if not is_library(f.filename)), NOWHERE)
