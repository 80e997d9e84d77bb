"""Each group of tests has a share of CPU seconds, and a whole run above it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import shares

ROOT = Path(__file__).parents[1]
CONFTEST = """
import shares
shares.YARDSTICK = {yardstick}
shares.GROUPS = (shares.Group("answers", fast={fast}, slow=0, grows=True), shares.Group("engine", fast=9, slow=9))
def pytest_configure(config):
    config.addinivalue_line("markers", "slow: long")
    shares.register(config)
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
def test_fails_once(tmp_path_factory): {fails}
"""
SUITE = {"tests/checks/test_burns.py": BURNS, "tests/launch/test_idle.py": "def test_idle(): pass"}


def run(
    folder: Path, *arguments: str, minutes: float = 1.0, fails: str = "pass", yardstick: float = 1.0
) -> subprocess.CompletedProcess[str]:
    """pytest in a project of two units out of fourteen, in which the answers have a share of ``minutes`` for all.
    A machine whose ``yardstick`` is a second is never slow."""
    texts = SUITE | {
        "tests/conftest.py": CONFTEST.format(fast=minutes, yardstick=yardstick),
        "pyproject.toml": "[tool.pytest]\ntestpaths = ['tests']",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("{fails}", fails))
    for unit in ("00_a", "01_b"):
        (folder / "course" / unit).mkdir(parents=True, exist_ok=True)
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import pytest; raise SystemExit(pytest.main())"
    command = [sys.executable, "-c", path, "-p", "xdist.plugin", *arguments]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def charged(folder: Path, part: str = "not slow") -> dict[str, float]:
    [file] = (folder / "build" / "shares").glob("*.json")
    return json.loads(file.read_text())[part]["spent"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_group_above_its_share_fails_a_whole_run(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """A share of 2.1 CPU seconds for all units is 0.3 for two of fourteen."""
    done = run(tmp_path, "-m", "not slow", *workers, minutes=2.1 / shares.MINUTE)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "The tests of answers took" in done.stdout
    assert "5 passed" in done.stdout
    assert charged(tmp_path)["answers"] >= 1.0  # 0.2 here, and 0.4 in each child


def test_within_its_share_it_passes_and_prints_a_table(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "not slow")
    assert done.returncode == 0, done.stdout
    rows = {
        line.split()[0]: line.split()[2:] for line in done.stdout.splitlines() if line[:7] in ("answers", "engine ")
    }
    assert rows == {"answers": ["17", "4"], "engine": ["1,080", "1"]}


def test_on_a_machine_half_as_fast_a_share_is_twice_as_large(tmp_path: Path) -> None:
    """The share is 0.7 CPU seconds, and 1.0 are needed."""
    assert run(tmp_path, "-m", "not slow", minutes=4.9 / shares.MINUTE).returncode == 1
    done = run(tmp_path, "-m", "not slow", "-n", "2", minutes=4.9 / shares.MINUTE, yardstick=shares.YARDSTICK / 10)
    assert done.returncode == 0, done.stdout
    assert float(done.stdout.partition("Shares count ")[2].split()[0]) > 2
    assert "test_in_a_child" in done.stdout


@pytest.mark.parametrize("some", [("-k", "burns or child"), ("tests/checks",), ("-m", "")])
def test_a_part_of_the_suite_never_fails_for_it(tmp_path: Path, some: tuple[str, ...]) -> None:
    done = run(tmp_path, "-m", "not slow", *some, minutes=0.0)
    assert done.returncode == 0, done.stdout
    assert "The tests of" not in done.stdout
    assert not (tmp_path / "build").exists()


def test_what_is_tried_twice_is_named_and_counts_twice(tmp_path: Path) -> None:
    assert run(tmp_path, "-m", "not slow", fails="assert not 'yet'").returncode == 1
    before = charged(tmp_path)["answers"]
    done = run(tmp_path, "-m", "not slow", "--last-failed", minutes=2.1 / shares.MINUTE)
    assert done.returncode == 1, done.stdout
    assert "1 passed" in done.stdout
    assert charged(tmp_path)["answers"] >= before
    [file] = (tmp_path / "build" / "shares").glob("*.json")
    assert json.loads(file.read_text())["not slow"]["again"] == ["tests/checks/test_burns.py::test_fails_once"]


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/checks/communication/test_mends.py::test_x", "answers"),
        ("tests/grading/test_labs.py::test_x", "lessons"),
        ("tests/grading/test_build.py", "grading"),
        ("tests/virtual/test_core.py::test_x[1]", "engine"),
        ("tests/test_cli.py::test_x", "rest"),
    ],
)
def test_a_test_belongs_to_a_group(nodeid: str, group: str) -> None:
    assert shares.group_of(nodeid) == group


def test_the_table_names_places_that_there_are() -> None:
    assert [place for place in shares.PLACES if not (ROOT / "tests" / place).exists()] == []
    assert set(shares.PLACES.values()) <= {group.name for group in shares.GROUPS}


def test_a_debt_is_above_the_share_and_has_a_group() -> None:
    """A debt below the share is paid, and goes."""
    units = len(list(ROOT.glob("course/[0-9]*_*")))
    debts = [(group, part, debt) for group in shares.GROUPS for part, debt in group.debt.items()]
    assert all(part in (shares.FAST, shares.SLOW) and debt > group.share(part, units) for group, part, debt in debts)
