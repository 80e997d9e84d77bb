"""What a run of tests prints of its CPU seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from proof import meter

ROOT = Path(__file__).parents[1]
CONFTEST = """
from proof import meter
meter.LONG = {long}
def pytest_configure(config):
    meter.register(config)
"""
BURNS = """
import subprocess, sys, time
import pytest
BURN = "import time\\nwhile time.process_time() < 0.4: pass"
def test_in_this_process(): exec(BURN.replace("0.4", str(time.process_time() + 0.2)))
def test_in_a_child(): subprocess.run([sys.executable, "-c", BURN], check=True)
@pytest.fixture(scope="session")
def living():
    with subprocess.Popen([sys.executable, "-c", BURN + "\\nprint(flush=True)\\ntime.sleep(60)"], stdout=-1) as child:
        yield child
        child.kill()
def test_in_a_child_that_lives_on(living): living.stdout.readline()
"""
SUITE = {"tests/checks/test_burns.py": BURNS, "tests/launch/test_idle.py": "def test_idle(): pass"}


def run(folder: Path, *arguments: str, long: float) -> subprocess.CompletedProcess[str]:
    texts = SUITE | {
        "tests/conftest.py": CONFTEST.format(long=long),
        "pyproject.toml": "[tool.pytest]\ntestpaths = ['tests']",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import pytest; raise SystemExit(pytest.main())"
    command = [sys.executable, "-c", path, "-p", "xdist.plugin", *arguments]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_long_run_names_its_dearest_tests_and_keeps_what_each_took(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = run(tmp_path, *workers, long=0.5)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row.split()[0]: row.split()[1:] for row in done.stdout.splitlines() if row[:7] in ("answers", "engine ")}
    assert float(rows["answers"][0]) >= 1.0  # 0.2 here, and 0.4 in each child
    assert (rows["answers"][1], rows["engine"][1]) == ("3", "1")
    assert "  tests/checks/test_burns.py::test_in_a_child" in done.stdout
    kept = json.loads((tmp_path / meter.FILE).read_text())
    assert kept["tests/checks/test_burns.py::test_in_a_child"] >= 0.4


@pytest.mark.slow
def test_a_short_one_names_none(tmp_path: Path) -> None:
    done = run(tmp_path, long=1000.0)
    assert "answers" in done.stdout
    assert "  tests/checks/test_burns.py::test_in_a_child" not in done.stdout


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/checks/communication/test_mends.py::test_x", "answers"),
        ("tests/grading/test_labs.py::test_x", "lessons"),
        ("tests/grading/test_build.py", "grading"),
        ("tests/virtual/test_supervisor.py::test_x[1]", "engine"),
        ("tests/test_cli.py::test_x", "rest"),
    ],
)
def test_a_test_belongs_to_a_group(nodeid: str, group: str) -> None:
    assert meter.group_of(nodeid) == group


def test_the_table_names_places_that_there_are() -> None:
    assert [place for place in meter.PLACES if not (ROOT / "tests" / place).exists()] == []
    assert set(meter.PLACES.values()) <= {*meter.GROUPS}
