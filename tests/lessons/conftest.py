"""A built lesson with one cell of each kind, and a home without any progress."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lockstep.grading.build import build

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample course, built: its root."""
    root = tmp_path_factory.mktemp("acting")
    shutil.copytree(HERE / "course", root / "course")
    build(root)
    return root


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCKSTEP_LESSONS", str(sample / "pkg/lockstep/lessons"))
    monkeypatch.delenv("LOCKSTEP_OPEN", raising=False)
