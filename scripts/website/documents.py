"""The pages of docs/, and those at the root of the clone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from website.links import ROOTS, page_of, rewritten

# In the order of the contents; a page that stands in no part is an error (tests/website).
PARTS = {
    "For learners": ("readme", "your-work", "one-click", "glossary", "coverage"),
    "Programs": ("virtual-cluster", "simulate-step", "tensors", "scripts", "traces", "races", "pytest", "warp-machine",
                 "plan", "figures"),
    "For teachers": ("instructors", "timetable", "board", "grading", "hub", "checks", "trust", "contributing"),
    "Where it ran": ("ranges", "gpu-node", "site", "changelog"),
}  # fmt: skip


def sources(root: Path) -> dict[str, str]:
    """Path in the clone → path in the site's source."""
    found = [path.relative_to(root).as_posix() for path in sorted((root / "docs").glob("*.md"))]
    found += sorted(path.relative_to(root).as_posix() for path in (root / "course").glob("*/*.md"))
    return {path: page_of(path) for path in [*found, *(path for path in ROOTS if path.endswith(".md"))]}


def pages(root: Path) -> Mapping[str, str]:
    """Path → Markdown, relative to the site's source, with the contents."""
    made = {page: rewritten((root / path).read_text(encoding="utf-8"), path) for path, page in sources(root).items()}
    made["docs/index.md"] = _contents(made)
    return made


def pictures(root: Path) -> Mapping[str, Path]:
    return {f"docs/{path.name}": path for path in sorted((root / "docs").glob("*.svg"))}


def _contents(made: Mapping[str, str]) -> str:
    """Parts leave out a page that this clone has not."""
    trees = []
    for part, names in PARTS.items():
        listed = "\n".join(name for name in names if f"docs/{name}.md" in made)
        trees.append(f"## {part}\n\n:::{{toctree}}\n:maxdepth: 1\n\n{listed}\n:::")
    return "\n\n".join(["# Documents", *trees]) + "\n"
