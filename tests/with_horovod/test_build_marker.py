"""Tests that need Horovod: skipped with a reason where it is missing, failed where it is required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = """\
from lockstep.with_horovod import available
available.available = lambda: False
"""
MARKED = """\
import pytest

@pytest.mark.horovod
def test_marked():
    raise AssertionError("this must not run")

def test_unmarked():
    pass
"""


@pytest.mark.parametrize(("required", "counts"), [("", "1 passed, 1 skipped"), ("required", "1 passed, 1 error")])
def test_a_marked_test_is_skipped_or_fails(tmp_path: Path, required: str, counts: str) -> None:
    (tmp_path / "test_two.py").write_text(MARKED)
    (tmp_path / "without_horovod.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    command += ["-p", "conftest", "-p", "without_horovod", "--rootdir", str(tmp_path), str(tmp_path / "test_two.py")]
    path = os.pathsep.join([str(ROOT / "tests"), str(tmp_path), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, "LOCKSTEP_HOROVOD": required}
    told = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=120).stdout
    assert counts in told
    assert "Horovod is not installed here." in told
