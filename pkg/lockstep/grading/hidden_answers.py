"""The library's own answers, hidden from a sandbox: the folders of right and wrong answers are empty there, and the
reference's module has only names and signatures, as text. Its bytecode is hidden, too.

A call of such a function gets the error that every call of the library's own answer gets. The reference itself runs
outside of the sandbox."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from lockstep.checks.exercise import Exercise
from lockstep.checks.guard import LibraryAnswer
from lockstep.checks.listing import FOLDER
from lockstep.checks.reach import reached

REFUSAL = f"__import__({__name__!r}, fromlist=['refuse']).refuse()"


def refuse() -> NoReturn:
    raise LibraryAnswer("this is the library's own answer, which you are asked to write")


@cache
def answers() -> tuple[str, ...]:
    """The folders of right and wrong answers, to all exercises."""
    return tuple(str(path.resolve()) for kind in ("right", "wrong") for path in sorted(FOLDER.glob(f"*/*/{kind}")))


def files(exercise: Exercise) -> dict[str, bytes]:
    """By path, what a sandbox sees in place of the modules that hold the reference. Bytecode is empty, and Python then
    reads the text."""
    found = {}
    allowed = _allowed(exercise)
    for module in _modules(exercise):
        source = Path(str(importlib.import_module(module).__file__)).resolve()
        names = {function.__name__ for function in allowed if function.__module__ == module}
        found[str(source)] = without_answers(source.read_text(encoding="utf-8"), names).encode()
        compiled = sorted((source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"))
        found |= {str(path): b"" for path in compiled}
    return found


def module_of(exercise: Exercise) -> str:
    """Of the reference: a module, or a package with all that is in it."""
    return exercise.reference.partition(":")[0]


def _modules(exercise: Exercise) -> list[str]:
    """Of a package those that the reference comes through."""
    module = module_of(exercise)
    if not hasattr(importlib.import_module(module), "__path__"):
        return [module]
    reference = exercise.reference_function()
    names = {function.__module__ for function in reached((reference,), (f"{module}.",))}
    return sorted(name for name in names if name.startswith(module))  # what a named tuple has made is in no file


def _allowed(exercise: Exercise) -> set[Any]:
    """The functions that a watch leaves open to answers, as the guard does."""
    watches = [watch for watch in (exercise.run.watch, exercise.run.watch_known) if watch]
    return reached(watches, (f"{module_of(exercise)}.",))


def without_answers(source: str, allowed: Collection[str] = ()) -> str:
    """A module whose functions refuse, but for those ``allowed`` and, where there are such, the classes that they may
    need. Decorators, which may read or compile a function, are gone, but for a method's."""
    return ast.unparse(_Refusing(allowed).visit(ast.parse(source)))


class _Refusing(ast.NodeTransformer):
    """Replaces bodies; what is defined in one is gone with it."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed, self._of_a_class = allowed, False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        if self._allowed:
            return node
        before, self._of_a_class = self._of_a_class, True
        self.generic_visit(node)
        self._of_a_class = before
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.body = ast.parse(REFUSAL, mode="eval").body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name in self._allowed and not self._of_a_class:
            return node
        node.body = ast.parse(REFUSAL).body
        node.decorator_list = node.decorator_list if self._of_a_class else []
        return node


def forget(module: str) -> None:
    """In a process that had a module, or some of a package, loaded before it was in the sandbox: its functions become
    what the sandbox sees of them, and the code that they had is nobody's."""
    for name, loaded in list(sys.modules.items()):
        if f"{name}.".startswith(f"{module}.") and isinstance(loaded, ModuleType) and loaded.__file__:
            _refuse_in(loaded)


def _refuse_in(module: ModuleType) -> None:
    space: dict[str, object] = {"__name__": module.__name__, "__package__": module.__package__}
    assert module.__file__
    text = Path(module.__file__).read_text(encoding="utf-8")
    exec(compile(text, module.__file__, "exec", dont_inherit=True), space)
    for name, function in _functions(module):
        other = space.get(name)
        if isinstance(other, FunctionType):
            function.__code__ = other.__code__


def _functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and not value.__closure__:
            yield name, value
