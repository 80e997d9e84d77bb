"""Which files of the course a learner gets. It imports nothing of Lockstep: setup.py reads it to pack a wheel."""

from __future__ import annotations

from pathlib import Path

SETTINGS = "course/.jupyter"  # JupyterLab's, for whoever opens the course


def material(root: Path) -> list[str]:
    """The paths below ``root`` of all that a learner reads, runs and writes in, and of what their links lead to.

    No source of a notebook is among them, and so no solution."""
    pages = [p for p in (root / "docs").glob("*") if p.suffix in (".md", ".svg")]
    notebooks = [p for top in ("course", "labs") for p in (root / top).rglob("*") if _for_learners(p.relative_to(root))]
    settings = [p for p in [root / "nbgrader_config.py"] if p.is_file()]
    return sorted(p.relative_to(root).as_posix() for p in [*settings, *pages, *notebooks] if p.is_file())


def settings(root: Path) -> list[str]:
    """The paths of JupyterLab's settings, which are read where they stand."""
    return sorted(p.relative_to(root).as_posix() for p in (root / SETTINGS).rglob("*.json"))


def _for_learners(path: Path) -> bool:
    """Notebooks, and the data and figures beside them; not their sources, nor a teacher's wrong answers."""
    hidden = any(part.startswith((".", "__")) for part in path.parts)
    return not hidden and path.suffix != ".py" and "wrong" not in path.parts
