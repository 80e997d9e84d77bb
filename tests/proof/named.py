"""``pytest -k EXERCISE``: which modules may have a test of its name. No other is even imported.

The name of a test is made of the names of its module, class and function, and of what its ``parametrize`` gives: the
names and texts of one line there, and those of all that these are defined by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from asked import ask_for

from proof.closure import SWEEP

TOPIC = re.compile(r"topic == '(\w+)'")  # of a module that goes through one topic's exercises


class Named:
    """For pytest: passes over a module that has nothing to do with the exercise."""

    def __init__(self, tests: Path, topic: str, function: str) -> None:
        self.tests, self.topic, self.function = tests, topic, function
        self.left: Sequence[pytest.Item] = ()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """A folder without a test of it, too: what its conftest imports takes a second."""
        inside = self.tests in collection_path.parents
        return True if inside and not self.may_name_it(collection_path) else None

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.left = items  # at last by marks, of what has its name

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        slow = sum(item.get_closest_marker("slow") is not None for item in self.left)
        terminalreporter.write_line(f"left to `make test`: {len(self.left) - slow}; to `make test-affected`: {slow}")

    @cache  # noqa: B019
    def may_name_it(self, module: Path) -> bool:
        if module.is_dir():
            return any(self.may_name_it(path) for path in module.rglob("test_*.py"))
        if not module.name.startswith("test_") or module.suffix != ".py":
            return True
        source = module.read_text(encoding="utf-8")
        if self.function in module.name:
            return True
        if not any(word in source for word in (self.function, *SWEEP)):
            return False
        rows, said = naming(ast.parse(source))
        if any(self.function in word for word in said):
            return True
        topics = {topic for row in rows for topic in TOPIC.findall(ast.unparse(row))}
        return bool(said & SWEEP) and "exercise" in said and (not topics or self.topic in topics)


def of_exercise(root: Path, keyword: str) -> Named | None:
    """For "communication.ping_pong" and "ping_pong"; None if it is no exercise's name."""
    if not keyword.replace(".", "").isidentifier():
        return None
    topic, _, function = keyword.rpartition(".")
    folder = root / "pkg/lockstep/exercises"
    found = [*folder.glob(f"{topic or '*'}/{function}/exercise.py")]
    if not found:
        return None
    ask_for(f"{path.parents[1].name}.{path.parent.name}" for path in folder.glob(f"*/*{function}*/exercise.py"))
    return Named(root / "tests", found[0].parents[1].name, function)


def naming(tree: ast.Module) -> tuple[list[ast.AST], set[str]]:
    """What the names of a module's tests are made of: decorators, and definitions that they come down to; and all
    names and texts in them."""
    defined, rows, said = dict(_definitions(tree)), list[ast.AST](), set[str]()
    waiting = list(_decorators(tree, said))
    while waiting:
        row = waiting.pop()
        rows.append(row)
        new = set(_words(row)) - said
        said |= new
        waiting += [defined.pop(name) for name in new if name in defined]
    return rows, said


def _decorators(tree: ast.Module, said: set[str]) -> Iterator[ast.AST]:
    """Of all functions and classes, whose own names are ``said``; marks of the whole module count among them."""
    methods = [inner for outer in tree.body if isinstance(outer, ast.ClassDef) for inner in outer.body]
    for node in [*tree.body, *methods]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            said.add(node.name)
            yield from node.decorator_list
    yield from (value for name, value in _definitions(tree) if name in ("pytestmark", "pytest_generate_tests"))


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """By name, what a module's own level binds to it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        else:
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    yield name.id, node


def _words(row: ast.AST) -> Iterator[str]:
    for node in ast.walk(row):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            yield node.value
