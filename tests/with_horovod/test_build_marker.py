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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_runs_an_exercise_in_horovod_is_marked_and_nothing_beside_it() -> None:
    """On a machine without it fourteen tests failed, one for each way to run an exercise of unit 07."""
    files = ("tests/checks/test_not_written.py", "tests/checks/test_guard.py", "tests/grading/test_labs.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--co", "-q", "-m", "horovod", *files]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120).stdout
    marked = [line.partition("::")[2] for line in told.splitlines() if "::" in line]
    assert len(marked) >= len(files)
    assert {name.partition("[")[2] for name in marked} == {"distribute]", "elastic_state]", "07_horovod]"}
