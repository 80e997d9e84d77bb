"""The glossary: terms of the lessons, each with the file that has it, and the unit.

The maps in the docstrings of the techniques' packages → ``docs/glossary.md``. A map's line names a file, or a folder,
and its terms, separated by ";". What is in parentheses explains, and is no term::

    ring            ring all-reduce; reduce-scatter
    broken          deadlock (three programs that hang)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lockstep.grading.course import UNITS

PACKAGE, PAGE = "pkg/lockstep", "docs/glossary.md"
UNIT = re.compile(r"^Taught in unit (\d\d)\. Read in this order:$", re.MULTILINE)
LINE = re.compile(r"^ {4}(\w+) +(\S.*)$", re.MULTILINE)
ABOVE = """# Glossary

Terms of the lessons, and the file that each is found in, below `pkg/lockstep/`. `lockstep build` makes this page from
the maps in the packages' `__init__.py`, which also say in which order to read.

| term | file | unit |
|---|---|---|"""


@dataclass(frozen=True)
class Place:
    """A line of a map. ``path``: below ``pkg/lockstep``, a file or a folder."""

    unit: int
    path: str
    terms: tuple[str, ...]


def techniques(root: Path) -> Iterator[tuple[Path, str]]:
    """The folders that have a map, each with the docstring that holds it."""
    for file in sorted((root / PACKAGE).glob("*/__init__.py")):
        told = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        if UNIT.search(told):
            yield file.parent, told


def places(root: Path) -> Iterator[Place]:
    for folder, told in techniques(root):
        head = UNIT.search(told)
        assert head
        for name, text in LINE.findall(told[head.end() :]):
            path = f"{folder.name}/{name}" + ("" if (folder / name).is_dir() else ".py")
            terms = re.sub(r"\([^)]*\)", "", text).split(";")
            yield Place(int(head[1]), path, tuple(filter(None, (term.strip() for term in terms))))


def page(root: Path) -> str:
    rows = sorted((term, place.path, place.unit) for place in places(root) for term in place.terms)
    lesson = {unit.number: f"[{unit.number:02d}](../course/{unit.folder}/lesson.ipynb)" for unit in UNITS}
    lines = [
        f"| {term} | `{path}` | {lesson[unit]} |" for term, path, unit in sorted(rows, key=lambda row: row[0].lower())
    ]
    return "\n".join([ABOVE, *lines]) + "\n"
