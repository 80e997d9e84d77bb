"""The coverage sheet: the topics of the lecture notes behind the course, and where each is taught, or why not.

``docs/coverage.toml`` → ``docs/coverage.md``. Places are written so that they outlive new numbers and minutes::

    "04 Fewer rounds"                   a section of unit 04's lesson
    "04 more: GPUs in nodes"            a section of its more.py
    "communication.ring_all_reduce"     an exercise of a lab
    "docs/ranges.md"                    a page
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import UsageError
from lockstep.grading.course import UNITS
from lockstep.grading.lesson_counts import HEADING

EXERCISE = re.compile(r"\w+\.\w+")
SOURCE, PAGE = "docs/coverage.toml", "docs/coverage.md"
# How far a topic comes, by its ``how``: each topic has one of these.
HOW = {"run": "run here", "taught": "taught, not run", "named": "named only", "": "not there"}
# What of a topic is not there, even if the rest of it is taught: a topic counts for each of these that it has.
LACKS = {"later": "something to come", "left_out": "something left out", "missing": "something missing"}
ABOVE = """# What of the lecture notes is taught where

Five sets of lecture notes gave rise to this course. Here are their topics, in the notes' order, with the places where
each is taught: sections of lessons, by their unit, and exercises, by their name. On the right stands what the course
says otherwise, and shows; and what is not taught, and why. `lockstep build` makes this page from
`docs/coverage.toml`: change that file.

The first four numbers count each topic once. **Run here**: an exercise is about it, or a cell of the lesson computes or
measures it. **Taught, not run**: it is explained, with what others have published. **Named only**: you learn that there
is such a thing. The last three count what is not there of a topic, even if the rest of it is taught.
"""


@dataclass(frozen=True)
class Entry:
    """A topic of the notes. What is taught has places; the rest are sentences."""

    notes: str
    title: str
    taught: tuple[str, ...] = ()
    how: str = ""  # "run", "taught" or "named"; an exercise is run
    differs: str = ""  # what the course says instead, and shows
    later: str = ""  # "12: …", the unit that is to come, and what it will have
    left_out: str = ""
    missing: str = ""

    @property
    def lacks(self) -> list[str]:
        return [name for name in LACKS if getattr(self, name)]

    @property
    def remarks(self) -> str:
        said = (("", self.differs), ("To come, in unit ", self.later), ("Left out: ", self.left_out))
        return " ".join(before + text for before, text in (*said, ("**Missing**: ", self.missing)) if text)


def entries(root: Path) -> list[Entry]:
    found = []
    for notes in tomllib.loads((root / SOURCE).read_text(encoding="utf-8"))["notes"]:
        for topic in notes["topics"]:
            taught = tuple(topic.get("taught", ()))
            how = "run" if any(map(EXERCISE.fullmatch, taught)) else ""
            found.append(Entry(notes["subject"], **{"how": how} | topic | {"taught": taught}))
    return found


def places(root: Path) -> Iterator[tuple[str, str]]:
    """Each place as the sheet names it, and as a link from its page."""
    for unit in UNITS:
        folder, number = root / "course" / unit.folder, f"{unit.number:02d}"
        for stem, called in (("lesson", number), ("more", f"{number} more:")):
            for title in _titles(folder / f"{stem}.py"):
                shown = f"[{called.strip(':')}](../course/{unit.folder}/{stem}.ipynb) {title}"
                yield f"{called} {re.sub(r'^[0-9]+[.] ', '', title)}", shown
        for name in re.findall(r'lab="tests (\w+)"', _text(folder / "lab.py")):
            yield f"{unit.topic}.{name}", f"[`{name}`](../{unit.lab})"
    for page in sorted([*root.glob("course/*/*.md"), *root.glob("docs/*.md")]):
        path = page.relative_to(root).as_posix()
        yield path, f"[{page.stem.replace('_', ' ').replace('-', ' ')}](../{path})"


def page(root: Path) -> str:
    """Raises UsageError if a place is not there."""
    sheet, known = entries(root), dict(places(root))
    if lost := sorted({place for one in sheet for place in one.taught} - known.keys()):
        raise UsageError(f"{SOURCE}: there is no {', '.join(map(repr, lost))}.", "Name the places as they are today.")
    by_notes = {one.notes: [e for e in sheet if e.notes == one.notes] for one in sheet}
    counts = [_counted(subject, of) for subject, of in (by_notes | {"all": sheet}).items()]
    parts = [ABOVE, *_table(["notes", "topics", *HOW.values(), *LACKS.values()], counts)]
    for subject, of in by_notes.items():
        linked = ["; ".join(link for place, link in known.items() if place in one.taught) for one in of]
        rows = [(one.title, HOW[one.how], links, one.remarks) for one, links in zip(of, linked, strict=True)]
        parts += [f"\n## {subject}\n", *_table(["topic", "how", "where", "what differs, or is not there"], rows)]
    return "\n".join(parts) + "\n"


def _counted(called: str, of: Sequence[Entry]) -> list[str]:
    how, lacks = Counter(one.how for one in of), Counter(name for one in of for name in one.lacks)
    return [called, str(len(of)), *(str(how[name]) for name in HOW), *(str(lacks[name]) for name in LACKS)]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _titles(source: Path) -> list[str]:
    return [m["title"] for m in HEADING.finditer(re.sub(r"^# ", "", _text(source), flags=re.M))]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
