"""A learner's function out of a .py or .ipynb file, without running the file.

The file is only parsed and compiled here. What is executed, and only inside the observed ranks under their time
limit, is what the function needs: its definition, and the imports, definitions, assignments and changes of what these
mention in turn. So a demo, a plot or an endless loop in the same file does no harm, cells that fail do not matter, and
magics are ignored."""

from __future__ import annotations

import ast
import difflib
import inspect
import json
import linecache
import os
import stat
import sys
import tokenize
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import cloudpickle

from lockstep.checks.nameless import NAME, nameless
from lockstep.checks.needed import Statement, needed, statements
from lockstep.checks.signature import written_signature
from lockstep.errors import LockstepError
from lockstep.launch.job import INSIDE
from lockstep.virtual.module_isolation import own_module

MODULE = "learner"  # in which the names of a learner's file live
SIZE_LIMIT = 50_000_000  # bytes


class Unreadable(LockstepError):
    """The file cannot be read at all, so there is nothing to judge."""


class NoFunction(LockstepError):
    """The file can be read, and does not define the function."""


@dataclass(frozen=True)
class Source:
    """A file's text, or one cell's."""

    name: str  # what a place names: "/home/ada/ring.py", "lab.ipynb, cell 3"
    text: str


@dataclass
class FromFile:
    """The function ``name`` of a file: callable, picklable, loaded on the first call in whichever process that is."""

    name: str
    folder: str
    sources: tuple[Source, ...] = field(repr=False)
    codes: tuple[tuple[CodeType, bool], ...] = field(repr=False)  # what to execute, and whether it may fail to import
    signature: inspect.Signature | None = None
    _function: Callable[..., Any] | None = field(default=None, repr=False)

    @property
    def __signature__(self) -> inspect.Signature | None:
        """For `inspect.signature`; read from the text, so that nothing needs to run. None: not known before it
        runs."""
        return self.signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function()(*args, **kwargs)

    def function(self) -> Callable[..., Any]:
        """The learner's own object, whatever it is: a function, or what numba made of one."""
        if self._function is None:
            self._function = self._execute()
        return self._function

    def _execute(self) -> Callable[..., Any]:
        """Run what the function needs, in a namespace of its own, its lines quotable."""
        for source in self.sources:
            lines = source.text.splitlines(keepends=True)
            linecache.cache[source.name] = (len(source.text), None, lines, source.name)
        if self.folder and self.folder not in sys.path:
            sys.path.append(self.folder)
        namespace = vars(_module())
        namespace["__file__"] = self.sources[-1].name
        for code, optional in self.codes:
            try:
                exec(code, namespace)
            except ImportError:
                if not optional:
                    raise
        function: Callable[..., Any] = namespace[self.name]
        return function


def _module() -> ModuleType:
    """Where the file's names live. It is registered: a dataclass looks for its own module there, and so does pickle.
    What is sent to another process takes its functions along, for the file is no module that one could import."""
    if os.environ.get(INSIDE) == "virtual":
        module = own_module(MODULE)
    else:
        module = sys.modules[MODULE] = ModuleType(MODULE)
    cloudpickle.register_pickle_by_value(module)
    return module


def load(path: str | Path, name: str) -> FromFile:
    """The function ``name`` in the file; Unreadable or NoFunction, in one sentence, if that cannot be."""
    file = Path(path)
    return _loaded(file, _sources(file), name)


def load_text(text: str, path: Path, name: str) -> FromFile:
    """The same of a text, whose lines are quoted as those of a file at ``path``."""
    return _loaded(path, [Source(str(path), text)], name)


def _loaded(file: Path, sources: list[Source], name: str) -> FromFile:
    found, broken = _parse(sources)
    defined = [s for _, s in found if name in s.binds]
    if not defined:
        raise _no_function(file, name, [s for _, s in found], broken)
    if isinstance(defined[-1].node, ast.ClassDef):
        raise NoFunction(f"{name} in {file.name} is a class.", f"Write a function: def {name}(...), which returns.")
    chosen = needed([s for _, s in found], name)
    used = dict.fromkeys(source for source, s in found if s in chosen)
    codes = tuple((s.code, s.optional) for s in chosen)
    return FromFile(name, str(file.resolve().parent), tuple(used), codes, written_signature(defined[-1].node))


def load_as(path: Path, name: str, told: str) -> FromFile:
    """The same with all names of its own replaced, so that nobody can read what the program is. Its lines are quoted as
    those of a file ``told``."""
    source = Source(told, nameless(path.read_text(encoding="utf-8"), name))
    found = statements(source.text, told)
    codes = tuple((s.code, s.optional) for s in found)
    return FromFile(NAME, "", (source,), codes, written_signature(found[-1].node))


def _sources(file: Path) -> list[Source]:
    if "\0" in str(file):
        raise Unreadable(f"{str(file)!r} has a zero byte in it, which no file's name can have.")
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise Unreadable(f"{file} is a pipe or a device, and not a file with your answer.")
        if status.st_size > SIZE_LIMIT:
            raise Unreadable(f"{file} is larger than {SIZE_LIMIT // 1_000_000} MB: this is not a lab.")
        if file.suffix == ".ipynb":
            return _cells(file, json.loads(file.read_text(encoding="utf-8")))
        with tokenize.open(file) as stream:
            return [Source(str(file.resolve()), stream.read())]
    except FileNotFoundError:
        raise Unreadable(f"There is no file {file}.") from None
    except IsADirectoryError:
        raise Unreadable(f"{file} is a folder; name the .py or .ipynb file in it.") from None
    except RecursionError:
        raise Unreadable(f"{file} is not a notebook: its lists or objects are nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"{file} is not a notebook: it is not JSON ({error}).") from None
    except (OSError, UnicodeError, SyntaxError, LookupError) as error:
        raise Unreadable(f"{file} cannot be read: {error}.") from None


def _cells(file: Path, notebook: Any) -> list[Source]:
    """The code cells, their magics turned into calls, as IPython would."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Unreadable(f"{file} is not a notebook: it has no list of cells.")
    texts = [c.get("source", "") for c in cells if isinstance(c, dict) and c.get("cell_type") == "code"]
    joined = ["".join(map(str, t)) if isinstance(t, list) else str(t) for t in texts]
    return [Source(f"{file.name}, cell {number}", _without_magics(text)) for number, text in enumerate(joined, 1)]


def _without_magics(text: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    first, newline, rest = text.partition("\n")
    if first.startswith(("%%time", "%%capture")):
        return newline + _without_magics(rest)
    try:
        transformed: str = TransformerManager().transform_cell(text)  # type: ignore[no-untyped-call]
    except SyntaxError:
        return text
    return transformed


def _parse(sources: list[Source]) -> tuple[list[tuple[Source, Statement]], list[tuple[str, str]]]:
    """All top-level statements; each cell, or the file, that is no Python, and what is wrong with it."""
    found: list[tuple[Source, Statement]] = []
    broken: list[tuple[str, str]] = []
    for source in sources:
        try:
            found += [(source, s) for s in statements(source.text, source.name)]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            broken.append((source.text, f"{Path(source.name).name}{_why(error)}"))
    return found, broken


def _why(error: Exception) -> str:
    """Python's parser reports what it cannot nest any deeper as a want of memory."""
    if isinstance(error, (RecursionError, MemoryError)):
        return ": an expression in it is nested too deeply"
    line = getattr(error, "lineno", None)
    return f"{f', line {line}' if line else ''}: {getattr(error, 'msg', error)}"


def _no_function(file: Path, name: str, found: list[Statement], broken: list[tuple[str, str]]) -> NoFunction:
    if mine := [told for text, told in broken if f"def {name}(" in text or file.suffix != ".ipynb"]:
        return NoFunction(f"This is no valid Python: {mine[0]}.")
    near = difflib.get_close_matches(name, {n for s in found for n in s.binds}, 3)
    advice = "Define it at the top level of the file."
    if broken:
        advice = f"One cell is no valid Python: {broken[0][1]}."
    elif near:
        advice = f"Did you mean {' or '.join(near)}?"
    return NoFunction(f"{file.name} defines no function {name}.", advice)
