"""The site's source: every page as Markdown or as a notebook, for Sphinx."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from lockstep.distribution import VERSION
from lockstep.grading.course import UNITS, Unit
from lockstep.lessons.behind import Behind, load
from website import api, documents, exercises, gallery
from website.executed import executed
from website.figures import FOLDER, Shared
from website.lessons import page
from website.links import page_of

STATIC = Path(__file__).parent / "static"
OPEN = '<button type="button" class="ls-open-all" hidden>Open all that waits</button>'


def there(root: Path, only: Sequence[str] = ()) -> list[Unit]:
    """The units whose lesson is written; with ``only``, those numbers."""
    return [u for u in UNITS if (root / u.lesson).is_file() and (not only or f"{u.number:02d}" in only)]


def write(root: Path, to: Path, kept: Path, only: Sequence[str] = ()) -> None:
    """Write all of it into the folder ``to``, which is emptied first. ``kept`` has the lessons that were executed."""
    shutil.rmtree(to, ignore_errors=True)
    shared, units = Shared(to / FOLDER), there(root, only)
    for unit in units:
        _lesson(root, unit, to, kept, shared)
    texts = text_pages(root, units) | dict(gallery.pages(gallery.samples(root), shared)) | dict(api.pages(root))
    texts["planner.md"] = planner(shared)
    for path, text in (texts | left_out(root, units)).items():
        _write(to / path, text)
    for path, file in documents.pictures(root).items():
        shutil.copyfile(file, to / path)
    shutil.copytree(STATIC, to / "_static", dirs_exist_ok=True)
    shutil.copyfile(Path(__file__).parent / "conf.py", to / "conf.py")


def forget(written: Path, site: Path) -> None:
    """Take out of the finished site what its source has no more; Sphinx leaves such pages, with their dead links."""
    for file in site.glob("*/**/*.html"):
        at = written / file.relative_to(site)
        if not any(at.with_suffix(suffix).is_file() for suffix in (".md", ".ipynb", ".html")):
            file.unlink()


def text_pages(root: Path, units: Sequence[Unit]) -> dict[str, str]:
    """The pages that need neither a lesson's run nor a figure: Path → Markdown."""
    made = {"index.md": front(root, there(root))}
    made |= {"lessons/index.md": lessons(root, units), "exercises/index.md": labs(units)}
    for unit in units:
        made |= exercises.pages(root, unit)
    return made | dict(documents.pages(root))


def left_out(root: Path, units: Sequence[Unit]) -> dict[str, str]:
    """A page for each lesson and lab that is not made (``--only``): others link to it."""
    made = {}
    for unit in there(root):
        folder = (root / unit.lesson).parent
        files = (
            [] if unit in units else [*sorted(folder.glob("*.ipynb")), *sorted(folder.glob("*.md")), root / unit.lab]
        )
        text = f"# {unit.title}\n\nThis unit is not among these pages: `make site` makes all of them.\n"
        alone = new_notebook(cells=[new_markdown_cell(text, id="cell-0")], metadata={"orphan": True})
        for at in (page_of(file.relative_to(root).as_posix()) for file in files):
            made[at] = nbformat.writes(alone) if at.endswith(".ipynb") else f"---\norphan: true\n---\n{text}"
    return made


def front(root: Path, units: Sequence[Unit]) -> str:
    """The first page: what it is, and the map of the course."""
    rows = "\n".join(_row(root, unit, units) for unit in UNITS)
    parts = "\n".join(f"{name}/index" for name in ("lessons", "exercises", "gallery"))
    return _FRONT.format(rows=rows, parts=f"{parts}\nplanner\ndocs/index\napi/index", version=VERSION)


_FRONT = """\
# Lockstep

**A teaching lab for parallel machine learning.** You predict a number, you simulate it, you measure it, and you find
out why the three differ. What you write for a simulated cluster of 64 GPUs runs unchanged on a real one.

These pages show each lesson as it is after it has run. Figures move here without anything installed. To predict, to
write and to be checked, [take the course to your machine](docs/readme.md), or [open it with
one click](docs/one-click.md).

## The map of the course

| | Unit | What you can answer then | Lab | Minutes of it |
|:--|:--|:--|:--|--:|
{rows}

[All figures](gallery/index.md) · [The planner](planner.md) · [Documents](docs/index.md) · [The library](api/index.md)

:::{{toctree}}
:hidden:
:maxdepth: 2

{parts}
:::

Version {version}.
"""


def _row(root: Path, unit: Unit, units: Sequence[Unit]) -> str:
    if unit not in units:
        return f"| {unit.number:02d} | {unit.title} | {unit.question} | to come | |"
    minutes = sum(e["minutes"] for e in _listed(root) if e["id"].startswith(f"{unit.topic}.") and e["core"])
    lab = f"[{len(exercises.read(root / unit.lab).exercises)} exercises](exercises/{unit.folder}.md)"
    return f"| {unit.number:02d} | [{unit.title}]({page_of(unit.lesson)}) | {unit.question} | {lab} | {minutes} |"


def _listed(root: Path) -> list[dict[str, Any]]:
    return list(json.loads((root / "pkg/lockstep/exercises/index.json").read_text(encoding="utf-8")))


def lessons(root: Path, units: Sequence[Unit]) -> str:
    listed = []
    for unit in units:
        listed += [unit.folder] + [f"{unit.folder}_more"] * (root / unit.lesson).with_name("more.ipynb").is_file()
        listed += [f"{unit.folder}_{p.stem}" for p in sorted((root / unit.lesson).parent.glob("*.md"))]
    return "# Lessons\n\n:::{toctree}\n:maxdepth: 1\n\n" + "\n".join(listed) + "\n:::\n"


def labs(units: Sequence[Unit]) -> str:
    listed = "\n".join(unit.folder for unit in units)
    return (
        "# Exercises\n\nEach page has the text of an exercise and its hints. "
        "Answers are checked in your copy of the course.\n\n"
        f":::{{toctree}}\n:maxdepth: 2\n\n{listed}\n:::\n"
    )


def planner(shared: Shared) -> str:
    """The explorer of plans, as ``lockstep plan --page`` writes it."""
    from lockstep import show

    return (
        "# The planner\n\nHow to divide a model's training among GPUs, how long a step takes, and whether it fits. "
        "[How it is computed, and how far off it is](docs/plan.md).\n\n"
        f"{gallery.raw(shared.page(show.plan().html(), depth=0))}\n"
    )


def _lesson(root: Path, unit: Unit, to: Path, kept: Path, shared: Shared) -> None:
    behind = load(unit.topic) if (root / f"pkg/lockstep/lessons/{unit.topic}.json").is_file() else Behind()
    for name in ("lesson", "more"):
        notebook = (root / unit.lesson).with_name(f"{name}.ipynb")
        if notebook.is_file():
            at = notebook.relative_to(root).as_posix()
            shown = page(executed(notebook, root, kept), at, behind, shared, OPEN)
            _write(to / page_of(at), nbformat.writes(shown))
    picture = (root / unit.lesson).with_name("opening.svg")
    if picture.is_file():
        _write(to / page_of(f"course/{unit.folder}/opening.svg"), picture.read_text(encoding="utf-8"))


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
