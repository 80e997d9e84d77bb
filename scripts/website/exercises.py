"""A page for each exercise, made of the lab that a student gets: its text, hints and stub. Answers are not there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lockstep.grading.course import Unit
from website.links import rewritten

ABOUT, ANSWER, TESTS = "readonly-about-", "answer-", "tests-"


@dataclass
class Lab:
    """A lab's cells as Markdown: what stands before its first exercise, and each exercise by its name."""

    before: list[str] = field(default_factory=list)
    exercises: dict[str, list[str]] = field(default_factory=dict)


def read(path: Path) -> Lab:
    """A student's lab."""
    lab, into = Lab(), None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source, id = "".join(cell["source"]), cell["id"]
        if id.startswith(ABOUT):
            into = lab.exercises.setdefault(id.removeprefix(ABOUT), [])
        code = cell["cell_type"] == "code"
        (lab.before if into is None else into).append(f"```python\n{source}\n```" if code else source)
    return lab


def pages(root: Path, unit: Unit) -> Mapping[str, str]:
    """Path → Markdown, relative to the site's source: the lab's own page, and one for each exercise."""
    lab = read(root / unit.lab)
    front = f"exercises/{unit.folder}.md"
    made = {front: _front(lab, unit)}
    for name, cells in lab.exercises.items():
        page = f"exercises/{unit.folder}/{name}.md"
        title, *rest = "\n\n".join(cells).split("\n", 1)
        text = rewritten("\n".join([title.removeprefix("#"), *rest]), unit.lab, page)
        made[page] = f"{text}\n\n{_footer(unit, name)}\n"
    return made


def _front(lab: Lab, unit: Unit) -> str:
    front = f"exercises/{unit.folder}.md"
    listed = "\n".join(f"{unit.folder}/{name}" for name in lab.exercises)
    text = rewritten("\n\n".join(lab.before), unit.lab, front)
    return f"{text}\n\n## The exercises\n\n:::{{toctree}}\n:maxdepth: 1\n\n{listed}\n:::\n"


def _footer(unit: Unit, name: str) -> str:
    """How an answer is checked: a page cannot."""
    return (
        ":::{admonition} To be checked\n"
        f"Write it in your copy of the lab and run the last cell, or put it into a file: "
        f"`lockstep check {unit.topic}.{name} answer.py`.\n:::"
    )
