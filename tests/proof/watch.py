"""Does a test read a file of the project that its closure lacks? Then a change of it would go unseen.

Only what the process of the test opens is seen, and not what it has started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proof.closure import Closure, Part
from proof.parts import Parts

MISSED = "reads without naming"


class Watch:
    def __init__(self, root: Path, closure: Closure, parts: Parts) -> None:
        self.root, self.closure, self.parts = f"{root}{os.sep}", closure, parts
        self.process = os.getpid()
        self.opened: set[str] = set()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(self.root):
            self.opened.add(arguments[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self.opened = set()  # by collecting, or between two tests

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        if call.when == "teardown" and os.getpid() == self.process:
            missed = {source_of(path.removeprefix(self.root)) for path in self.opened} & self.closure.files.keys()
            if missed := missed - self._closure(self.parts.of(item)):
                item.user_properties.append((MISSED, sorted(missed)))
        return (yield)

    @cache  # noqa: B019
    def _closure(self, part: Part) -> frozenset[str]:
        return frozenset(self.closure.of(part))


def source_of(path: str) -> str:
    """ "pkg/lockstep/events.py" of "pkg/lockstep/__pycache__/events.cpython-311.pyc"."""
    folder, _, name = path.rpartition("/")
    if folder.endswith("__pycache__"):
        return f"{folder.removesuffix('__pycache__')}{name.partition('.')[0]}.py"
    return path
