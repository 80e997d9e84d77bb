"""A lesson as it is after all its cells have run with everything open: its outputs, kept by content.

A run is kept under the hash of what decides it: the notebook, what is behind its lesson, the library, and the versions
of the packages that compute. The second ``make site`` runs only what has changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

TIMEOUT = 600  # seconds for one cell
PACKAGES = ("torch", "numpy", "numba", "scikit-learn", "joblib", "matplotlib")
UNSEEN = ("cli", "grading", "hub", "testing")  # parts of the library that no cell of a lesson uses


def library(package: Path) -> Iterator[Path]:
    """The files of the library that a lesson's run may depend on."""
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        if path.is_file() and parts[0] not in UNSEEN and "__pycache__" not in parts and "wrong" not in parts:
            yield path


def key(files: Iterable[Path], root: Path) -> str:
    """A hash of names and contents, and of the packages that compute."""
    seen = hashlib.sha256("".join(f"{name} {version(name)}\0" for name in PACKAGES).encode())
    for path in files:
        seen.update(f"{path.relative_to(root).as_posix()}\0".encode())
        seen.update(hashlib.sha256(path.read_bytes()).digest())
    return seen.hexdigest()[:24]


def executed(notebook: Path, root: Path, kept: Path) -> Any:
    """The notebook with its outputs, run now or before; ``kept`` is the folder of earlier runs.

    Raises nbclient's CellExecutionError, with the cell and its traceback, if a cell fails.
    """
    folder = [path for path in sorted(notebook.parent.iterdir()) if path.is_file() and path.name != "ring.json"]
    seen = key([*folder, *library(root / "pkg" / "lockstep")], root)
    name = notebook.relative_to(root / "course").with_suffix("").as_posix().replace("/", "-")
    place = kept / f"{name}-{seen}.ipynb"
    if not place.exists():
        print(f"==> site: running {notebook.relative_to(root)}", flush=True)
        done = run(notebook)
        kept.mkdir(parents=True, exist_ok=True)
        for old in kept.glob(f"{name}-{'?' * len(seen)}.ipynb"):
            old.unlink()
        written = place.with_suffix(".new")
        nbformat.write(done, written)
        written.replace(place)
    return nbformat.read(place, as_version=4)


def run(notebook: Path) -> Any:
    """Run all cells of a copy, with everything open, in a home without progress, and no socket of the network."""
    with tempfile.TemporaryDirectory(prefix="site-", dir="/tmp", ignore_cleanup_errors=True) as made:  # sockets: short
        folder = Path(made)
        shutil.copytree(notebook.parent, folder / "unit")
        nb = nbformat.read(notebook, as_version=4)
        sockets = Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "s")}})
        places = {"metadata": {"path": str(folder / "unit")}}
        client = NotebookClient(nb, timeout=TIMEOUT, config=sockets, resources=places)
        with _environment({"LOCKSTEP_OPEN": "all", "LOCKSTEP_HOME": str(folder / "home")}):
            client.execute()
    return nb


class _environment:
    """These variables, as long as it lasts: a kernel inherits them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def __enter__(self) -> None:
        self.before = {name: os.environ.get(name) for name in self.values}
        os.environ.update(self.values)

    def __exit__(self, *raised: object) -> None:
        for name, value in self.before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
