'''A plain exercise: one Python file of a teacher's, in which nothing of Lockstep stands.

    """Mean of shards                          the title,

    Return the mean of all numbers ...         and the text, in Markdown
    """

    def mean_of_shards(shards):                named as the file; its docstring and signature are given,
        """The mean, a float."""
        ...                                    its body is the solution: all of it, or what stands between
                                               ### BEGIN SOLUTION and ### END SOLUTION
    cases = [
        ([[1, 2], [3]], 2.0),                  (argument, expected), (arguments in a tuple, expected),
        ([[], [4]], 4.0, "an empty shard"),    and what it tries, in words
    ]

    def check_...(answer):                     asserts, each with a sentence: ``answer`` is the learner's function
    def wrong_...(shards):                     a known wrong answer; its docstring is what its author is told
    points, minutes, ranks ...                 see ``SETTINGS``

The file is read here, and what is wrong with it is said in one sentence with its line. ``plain_exercise.py`` makes an
`Exercise` of it.
'''

from __future__ import annotations

import ast
import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from lockstep.checks.plain_marks import Slip, slip_of_marks
from lockstep.checks.plain_slips import as_it_is_meant, mistyped_name, names_given
from lockstep.checks.wording import counted, listed
from lockstep.errors import UsageError

CHECK, WRONG = "check_", "wrong_"
MOST_RANKS, HINTS = 64, 3
SETTINGS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "points": ("a whole number from 1 on", lambda v: _whole(v) and v >= 1),
    "minutes": ("a whole number from 1 on", lambda v: _whole(v) and v >= 1),
    "ranks": (f"a whole number from 1 to {MOST_RANKS}", lambda v: _whole(v) and 1 <= v <= MOST_RANKS),
    "core": ("True, or False for a bonus", lambda v: isinstance(v, bool)),
    "number": ("a whole number, its place in the lab", lambda v: _whole(v)),
    "tolerance": ("a number between 0 and 1", lambda v: isinstance(v, float) and 0 < v < 1),
    "hints": (
        "a list of three texts: where to begin, the idea, almost the code",
        lambda v: isinstance(v, (list, tuple)) and len(v) == HINTS and all(isinstance(h, str) and h.strip() for h in v),
    ),
    "may_change": (
        "a list of names of parameters",
        lambda v: isinstance(v, (list, tuple)) and all(isinstance(name, str) for name in v),
    ),
}


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Tried:
    """One of ``cases``: with these arguments the function gives ``wanted``, or raises it, where it is an exception.
    ``told``: what the case tries, in words; ``line``: where it stands."""

    arguments: tuple[Any, ...]
    wanted: Any
    told: str
    line: int


@dataclass(frozen=True)
class Wrong:
    """A known wrong answer: what the author of such a one is told, and its line."""

    told: str
    line: int


@dataclass(frozen=True)
class PlainFile:
    """What such a file says. ``path``: of the file that it was read from; ``handed_out``: whether it is what a
    learner gets, without its solution."""

    path: Path
    text: str = field(repr=False)
    topic: str
    function: str
    handed_out: bool
    title: str
    about: str  # in Markdown
    parameters: tuple[str, ...]  # names
    defaults: Mapping[str, str]  # by name, their text
    cases: tuple[Tried, ...] = ()
    checks: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    mistakes: Mapping[str, Wrong] = field(default_factory=dict)  # by name
    points: int = 2
    minutes: int = 10
    ranks: int | None = None  # on so many the function runs; None: it is called once, and sends nothing
    core: bool = True
    number: int = 0
    tolerance: float | None = None  # relative, and absolute; by default rounding is forgiven
    hints: Sequence[str] = ()
    may_change: Sequence[str] = ()

    @property
    def id(self) -> str:
        return f"{self.topic}.{self.function}"

    @property
    def signature(self) -> str:
        """Its parameters in one line; a default that has a comma in it is left out."""
        told = [f"{name}={self.defaults[name]}" if name in self.defaults else name for name in self.parameters]
        return ", ".join(t if "," not in t else f"{t.partition('=')[0]}=…" for t in told)

    def at(self, line: int) -> str:
        """As in "mean_of_shards.py, line 12"."""
        return f"{self.path.name}, line {line}"


def read(path: Path, topic: str) -> PlainFile:
    """The plain exercise in a file. Raises UsageError, in one sentence with its line, where something is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from None
    return parsed(text, path.resolve(), topic, path.stem)


@lru_cache(256)  # a list of exercises, and each check, asks for it again
def parsed(text: str, path: Path, topic: str, function: str, handed_out: bool = False) -> PlainFile:
    """The same of a text that stands in ``path``."""
    source = _Source(text, path, function)
    if not re.fullmatch("[a-z][a-z0-9_]{0,49}", function):
        source.fail(1, f"{function} is no name for an exercise.", "Take lower case, digits and _; at most 50 of them.")
    node = source.function_node()
    parameters, defaults = source.parameters(node)
    title, about = source.title_and_text()
    if not handed_out:  # there a name that only the solution uses is used by nobody
        source.refuse(slip_of_marks(text))
        source.refuse(mistyped_name(source.tree, (*SETTINGS, "cases"), (CHECK, WRONG), function))
    checks, wrong = source.checks(), source.wrong()
    module = source.executed()
    source.compare_parameters(module, wrong)
    settings = source.settings(module, parameters)
    if checks and settings.get("ranks"):
        line = source.defined[next(iter(checks))].lineno
        source.fail(line, f"{next(iter(checks))} and `ranks` do not go together.", "On ranks, write cases.")
    cases = source.cases(module, node)
    if not cases and not checks:
        source.fail(node.lineno, f"nothing tries {function}.", "Write `cases`, a list of (arguments, expected).")
    functions = {name: getattr(module, name) for name in checks}
    return PlainFile(
        path, text, topic, function, handed_out, title, about, parameters, defaults, cases, functions, wrong, **settings
    )


def in_order(files: Iterable[PlainFile]) -> list[PlainFile]:
    """As they stand in a lab: the core ones first, by number and name."""
    return sorted(files, key=lambda file: (not file.core, file.number, file.function))


class _Source:
    """A file's text, and what it says; each method raises UsageError, with the line."""

    def __init__(self, text: str, path: Path, function: str) -> None:
        self.text, self.path, self.function = text, path, function
        try:
            self.tree = ast.parse(text, str(path))
        except (SyntaxError, ValueError) as error:
            told = getattr(error, "msg", None) or str(error)
            self.fail(getattr(error, "lineno", None) or 1, f"this is no Python: {told}.")
        self.defined = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}

    def fail(self, line: int, what: str, remedy: str = "") -> NoReturn:
        raise UsageError(f"{self.path.name}, line {line}: {what}", remedy)

    def refuse(self, slip: Slip | None) -> None:
        if slip:
            self.fail(*slip)

    def function_node(self) -> ast.FunctionDef:
        """The function that the file is named after."""
        if self.function not in self.defined:
            there = listed(list(self.defined)) or "no function"
            self.fail(
                1, f"there is no function {self.function} here, but {there}.", "The function is named as the file."
            )
        node = self.defined[self.function]
        body = node.body[int(ast.get_docstring(node) is not None) :]
        if not body:
            self.fail(node.lineno, f"{self.function} has no body.", "Its body is the solution: write it.")
        if body[0].lineno == node.lineno:
            self.fail(node.lineno, "the solution stands in the line of its def.", "Begin a new line after the colon.")
        return node

    def parameters(self, node: ast.FunctionDef) -> tuple[tuple[str, ...], dict[str, str]]:
        a = node.args
        if a.vararg or a.kwarg or a.kwonlyargs:
            self.fail(node.lineno, "a learner should see which arguments come.", "Write them out: no *, no **.")
        names = tuple(p.arg for p in (*a.posonlyargs, *a.args))
        with_default = names[len(names) - len(a.defaults) :]
        return names, {name: ast.unparse(d) for name, d in zip(with_default, a.defaults, strict=True)}

    def title_and_text(self) -> tuple[str, str]:
        told = (ast.get_docstring(self.tree) or "").strip()
        if not told:
            self.fail(1, "the text is missing.", "Begin the file with a docstring: a title, an empty line, the text.")
        title, _, about = told.partition("\n")
        return title.strip().rstrip("."), about.strip()

    def checks(self) -> list[str]:
        found = [node for name, node in self.defined.items() if name.startswith(CHECK)]
        for node in found:
            if len(node.args.args) != 1:
                self.fail(node.lineno, f"{node.name} takes one argument, the learner's function.")
            (answer,) = node.args.args
            if not any(isinstance(n, ast.Name) and n.id == answer.arg for n in ast.walk(node)):
                self.fail(node.lineno, f"{node.name} never calls {answer.arg}, the learner's function.")
            asserts = [n for n in ast.walk(node) if isinstance(n, ast.Assert)]
            if not asserts:
                self.fail(node.lineno, f"{node.name} has no assert.", 'Write, for example, assert x > 0, "It is …."')
            for one in asserts:
                if one.msg is None:
                    example = f'assert {ast.unparse(one.test)}, "What is wrong, for the learner."'
                    self.fail(one.lineno, "this assert says nothing.", f"Add a sentence: {example}")
        return [node.name for node in found]

    def wrong(self) -> dict[str, Wrong]:
        found = {name: node for name, node in self.defined.items() if name.startswith(WRONG)}
        for name, node in found.items():
            if not ast.get_docstring(node):
                self.fail(node.lineno, f"{name} has no docstring.", "It is what the author of such an answer is told.")
        return {n: Wrong(" ".join((ast.get_docstring(d) or "").split()), d.lineno) for n, d in found.items()}

    def compare_parameters(self, module: ModuleType, wrong: Mapping[str, Wrong]) -> None:
        """A wrong answer takes what the function takes: whether some of it is left out, or nothing."""
        signature = inspect.signature(getattr(module, self.function))
        needed = [name for name, p in signature.parameters.items() if p.default is p.empty]
        for name, one in wrong.items():
            own = inspect.signature(getattr(module, name))
            if not _takes(own, needed) or not _takes(own, list(signature.parameters)):
                told = f"{name} takes {_bare(own)}, and {self.function} takes {_bare(signature)}."
                self.fail(one.line, told, "Both are called with the same arguments.")

    def executed(self) -> ModuleType:
        """Its names. Whatever it raises is told with its line."""
        module = ModuleType(self.function)
        module.__file__ = str(self.path)
        try:
            exec(compile(self.tree, str(self.path), "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(self.path)]
            told = f"{type(error).__name__}: {error}".rstrip(": ").rstrip(".")
            self.fail((lines or [1])[-1] or 1, f"the file cannot be run: {told}.")
        return module

    def settings(self, module: ModuleType, parameters: Sequence[str]) -> dict[str, Any]:
        found = {name: getattr(module, name) for name in SETTINGS if hasattr(module, name)}
        for name, value in found.items():
            what, fits = SETTINGS[name]
            if name == "hints" and isinstance(value, (list, tuple)) and len(value) != HINTS:
                self.fail(
                    self._line(name), f"`hints` has {counted(len(value), 'text')}, not {HINTS}.", f"It is {what}."
                )
            if not fits(value):
                self.fail(self._line(name), f"`{name}` is {_shortened(repr(value))}.", f"It should be {what}.")
        for name in found.get("may_change", ()):
            if name not in parameters:
                self.fail(self._line("may_change"), f"{self.function} has no parameter {name!r}.")
        return found

    def cases(self, module: ModuleType, node: ast.FunctionDef) -> tuple[Tried, ...]:
        if not hasattr(module, "cases"):
            return ()
        value = module.cases
        if not isinstance(value, (list, tuple)):
            what = type(value).__name__
            self.fail(self._line("cases"), f"`cases` is a {what}.", "Write a list of (arguments, expected).")
        signature = inspect.signature(getattr(module, self.function))
        written = self._written_cases(len(value))
        return tuple(
            self._case(one, number, node, signature)
            for number, (one, node) in enumerate(zip(value, written, strict=True), 1)
        )

    def _case(self, one: Any, number: int, node: ast.expr | None, signature: inspect.Signature) -> Tried:
        line = node.lineno if node else self._line("cases")
        meant = as_it_is_meant(node, lambda many: _takes(signature, [None] * many))
        if not isinstance(one, (tuple, list)) or len(one) not in (2, 3) or (len(one) == 3 and type(one[2]) is not str):
            said = "After these two, a text may say what it tries."
            self.fail(line, f"case {number} is no (arguments, expected).", meant or said)
        given, wanted, *told = one
        arguments = given if isinstance(given, tuple) else (given,)
        if not _takes(signature, arguments):
            gives = f"case {number} gives {counted(len(arguments), 'argument')}"
            said = (
                "Several arguments stand in a tuple, ((1, 2), expected); so does a tuple that is one, (((1, 2),), …)."
            )
            self.fail(line, f"{gives}, and {self.function}{_bare(signature)} takes another number.", meant or said)
        return Tried(arguments, wanted, told[0] if told else f"case {number}", line)

    def _line(self, name: str) -> int:
        """Where a name is assigned last."""
        return max((node.lineno for node in self.tree.body if name in names_given(node)), default=1)

    def _written_cases(self, number: int) -> list[ast.expr | None]:
        """Each as it is written, where the list is written out."""
        lists = [getattr(node, "value", None) for node in self.tree.body if "cases" in names_given(node)]
        written = [item for one in lists if isinstance(one, (ast.List, ast.Tuple)) for item in one.elts]
        return [*written] if len(written) == number else [None] * number


def _takes(signature: inspect.Signature, arguments: Sequence[Any]) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def _bare(signature: inspect.Signature) -> str:
    """As in "(n, k=2)"."""
    return str(signature.replace(return_annotation=inspect.Signature.empty))


def _shortened(told: str, most: int = 40) -> str:
    return told if len(told) <= most else f"{told[: most - 1]}…"
