"""Which part of the tests a collected item belongs to."""

from __future__ import annotations

import re
from typing import Any

import pytest

from proof.closure import EXERCISES, Closure, Part

FOLDER = re.compile(rf"{EXERCISES}/(\w+)/(\w+)/")


class Parts:
    def __init__(self, closure: Closure) -> None:
        self.closure = closure
        self.known: dict[str, set[str]] = {}

    def of(self, item: pytest.Item) -> Part:
        """That of the one exercise or unit that its parameters are about; the rest of its module otherwise."""
        module = item.nodeid.partition("::")[0]
        if module not in self.known:
            there = module in self.closure.files
            self.known[module] = {part.of for part in self.closure.parts_of(module)} if there else set()
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        about = {of for value in values for of in [_about(value)] if of in self.known[module] and of}
        return Part(module, about.pop() if len(about) == 1 else "")


def _about(value: Any) -> str:
    """ "communication.ping_pong" of an exercise, of its id or of a path to one of its answers; a unit's folder."""
    path = FOLDER.search(str(getattr(value, "path", value)))
    if path:
        return f"{path[1]}.{path[2]}"
    if isinstance(value, str):
        return value
    return str(getattr(value, "id", "") or getattr(value, "folder", ""))
