"""CONTRIBUTING.md followed to the letter, on a copy: its exercise is checked, built and released as it says."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
EXERCISE = "communication.shift_left"
pytestmark = pytest.mark.reads("pkg/", "course/", "labs/", "solutions/")


def appended(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after steps 1, 2, 3 and 5."""
    copy = tmp_path_factory.mktemp("project")
    for folder in ("pkg", "course", "labs", "solutions"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / "nbgrader_config.py", copy)
    _plain, _more, reference, exercise, wrong, lab = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    collectives, folder = copy / "pkg/lockstep/collectives", copy / "pkg/lockstep/exercises/communication/shift_left"
    (collectives / "shift.py").write_text(reference)
    appended(
        collectives / "__init__.py", 'from lockstep.collectives.shift import shift_left\n__all__ += ["shift_left"]\n'
    )
    (folder / "wrong").mkdir(parents=True)
    (folder / "exercise.py").write_text(exercise)
    (folder / "wrong" / "direction.py").write_text(wrong)
    appended(copy / "course/04_communication/lab.py", f"\n{lab}")
    return copy


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teacher's own course, after the first page of the guide: an installed Lockstep, and one file."""
    own = tmp_path_factory.mktemp("own")
    plain, more = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[:2]
    (own / "course/01_averages").mkdir(parents=True)
    (own / "course/01_averages/mean_of_shards.py").write_text(f"{plain}\n\n{more}")
    return own


def of_own(own: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pkg"), "LOCKSTEP_HOME": str(own / "home")}
    command = [sys.executable, "-m", "lockstep", *arguments]
    return subprocess.run(command, cwd=own, env=environment, capture_output=True, text=True, timeout=120)


def test_the_first_exercise_of_ones_own_is_checked_and_built_as_the_guide_says(own: Path) -> None:
    file = "course/01_averages/mean_of_shards.py"
    done = of_own(own, "check", file, "--reference")
    assert done.stdout == "averages.mean_of_shards: Right. 2 of 2 points\n", done.stderr
    wrong = of_own(own, "check", file, "--wrong")
    assert wrong.returncode == 0, wrong.stdout
    assert "A longer shard should count for more." in " ".join(wrong.stdout.split())
    built = of_own(own, "build")
    assert "built labs/01_averages/lab.ipynb" in built.stdout, built.stderr
    untouched = of_own(own, "check", "averages.mean_of_shards", "labs/01_averages/lab.ipynb", "--json")
    assert json.loads(untouched.stdout)["findings"][0]["misconception"] == "not-written"
    solved = of_own(own, "check", "averages.mean_of_shards", "solutions/01_averages/lab.ipynb")
    assert "Right. 2 of 2 points" in solved.stdout


def test_the_first_one_takes_about_ten_lines_and_names_nothing_of_lockstep() -> None:
    plain = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0]
    assert len([line for line in plain.splitlines() if line.strip()]) <= 11
    assert "lockstep" not in plain
    assert plain in (ROOT / "docs/instructors.md").read_text(), "whoever has Lockstep by pip has that page alone"


def test_every_setting_of_a_plain_file_is_in_the_guide() -> None:
    from lockstep.checks.plain_file import SETTINGS

    page = GUIDE.partition("# An exercise that looks at messages")[0]
    assert [name for name in SETTINGS if f"`{name} = " not in page] == []


def lockstep(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(copy / "pkg"), "LOCKSTEP_HOME": str(copy / "home")}
    command = [sys.executable, "-m", "lockstep", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=120)


def test_the_reference_passes_its_check(copy: Path) -> None:
    done = lockstep(copy, "check", EXERCISE, "--reference")
    assert done.stdout == f"{EXERCISE}: Right. 2 of 2 points\n", done.stderr


def test_the_wrong_answer_is_told_what_it_states(copy: Path) -> None:
    done = lockstep(copy, "check", EXERCISE, "--wrong")
    assert done.returncode == 0, done.stdout + done.stderr
    [stated] = re.findall(r'MISCONCEPTION = "(.*)"', GUIDE)
    assert stated in done.stdout
    assert "This is the left neighbour's tensor." in done.stdout


@pytest.mark.slow
def test_a_teachers_own_wrong_answer_is_recognised_as_well(copy: Path) -> None:
    folder = copy / "course/04_communication/wrong/shift_left"
    folder.mkdir(parents=True)
    written = (copy / "pkg/lockstep/exercises/communication/shift_left/wrong/direction.py").read_text()
    keeps_own = written.replace("return received", "return tensor + 0")
    given = keeps_own.replace("wrong-direction", "keeps-own").replace("This is the left neighbour's tensor.", "Own!")
    (folder / "own.py").write_text(given)
    (copy / "mine.py").write_text(keeps_own)
    done = lockstep(copy, "check", EXERCISE, "mine.py", "--json")
    found = json.loads(done.stdout)["findings"]
    assert found[0]["misconception"] == "keeps-own", done.stdout
    assert "Own!" in found[0]["message"]
    (folder / "own.py").write_text("x = 1\n")
    assert "defines no function shift_left" in lockstep(copy, "check", EXERCISE, "--wrong").stderr
    (folder / "own.py").unlink()


@pytest.mark.slow
def test_the_lab_is_built_solved_and_released(copy: Path) -> None:
    assert lockstep(copy, "build", "--check").returncode == 1
    built = lockstep(copy, "build")
    assert built.returncode == 0, built.stderr
    assert lockstep(copy, "build", "--check").returncode == 0
    solved = lockstep(copy, "check", EXERCISE, "solutions/04_communication/lab.ipynb")
    assert f"{EXERCISE}: Right. 2 of 2 points" in solved.stdout
    untouched = lockstep(copy, "check", EXERCISE, "labs/04_communication/lab.ipynb", "--json")
    assert json.loads(untouched.stdout)["findings"][0]["misconception"] == "not-written"


def test_the_guide_names_the_places_that_there_are() -> None:
    named = set(re.findall(r"`((?:pkg|tests|course)/[\w/.]+)`", GUIDE))
    named = {path for path in named if "averages" not in path}  # of a teacher's own course
    new = {path for path in named if "shift" in path}
    assert {path for path in named - new if not (ROOT / path).exists()} == set()
    assert {str(Path(path).parent) for path in new if not (ROOT / path).parent.parent.exists()} == set()
