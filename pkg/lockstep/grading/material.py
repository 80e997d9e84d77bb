"""Which files of the course a learner gets. It imports nothing of Lockstep: setup.py reads it to pack a wheel."""

from __future__ import annotations

from pathlib import Path

SETTINGS = "course/.jupyter"  # JupyterLab's, for everyone who opens the course
SUFFIXES = (".ipynb", ".md", ".svg", ".png", ".csv")  # notebooks, pages, figures, data; no source, no solution

DATA = "exercises.json"  # of a lab: its plain exercises without their solutions


def material(root: Path) -> list[str]:
    """The paths below ``root`` of all that a learner reads, runs and writes in, and of what their links lead to.

    What a lesson writes when it is run (a trace, ``ring.json``) is not among them."""
    found = [p.relative_to(root) for top in ("course", "labs", "docs") for p in (root / top).rglob("*") if p.is_file()]
    chosen = [
        path
        for path in found
        if (path.suffix in SUFFIXES or path.name == DATA) and not any(part.startswith(".") for part in path.parts)
    ]
    nbgraders = [path for path in [Path("nbgrader_config.py")] if (root / path).is_file()]
    return sorted(path.as_posix() for path in [*chosen, *nbgraders])


def settings(root: Path) -> list[str]:
    """The paths of JupyterLab's settings, and of the course's extension of it, which are read in place."""
    found = [p for suffix in ("json", "js") for p in (root / SETTINGS).rglob(f"*.{suffix}")]
    return sorted(p.relative_to(root).as_posix() for p in found)
