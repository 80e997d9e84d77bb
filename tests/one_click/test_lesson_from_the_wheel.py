"""Lesson 04 as on Colab: an environment with the wheel and what its extra `course` names, and no clone.

What rots elsewhere does so here first: the packages are those of constraints.txt. A lesson that uses another one fails.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_bare_install import environment, needed, sdist, wheel

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
__all__ = ["sdist", "wheel"]  # fixtures
pytestmark = [pytest.mark.slow, pytest.mark.reads("**"), pytest.mark.timeout(900)]

RUN = """
import sys
from pathlib import Path
import nbformat
from nbclient import NotebookClient
from traitlets.config import Config
at = Path(sys.argv[1])
nb = nbformat.read(at, as_version=4)
sockets = Config({"KernelManager": {"transport": "ipc", "ip": sys.argv[2]}})
NotebookClient(nb, timeout=300, config=sockets, resources={"metadata": {"path": str(at.parent)}}).execute()
nbformat.write(nb, at)
"""


def asked_for(wheel: Path, extra: str) -> list[str]:
    """The packages that the wheel itself and one of its extras name."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(archive.read(name).decode())
    wanted = [Requirement(line) for line in told.get_all("Requires-Dist", [])]
    return [one.name for one in wanted if not one.marker or one.marker.evaluate({"extra": extra})]


@pytest.fixture(scope="module")
def colab(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its Python."""
    place = tmp_path_factory.mktemp("colab")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    [site] = place.glob("lib/python3*/site-packages")
    beside = place / "beside"
    beside.mkdir()
    for name, path in needed(asked_for(wheel, "course")).items():
        (beside / name).symlink_to(path)
    (site / "beside.pth").write_text(f"{beside}\n")
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    done = subprocess.run(pip, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    return python


def test_what_it_runs_with_has_the_versions_that_are_pinned(colab: Path) -> None:
    """Else the lesson would be tried with others than those that constraints.txt gives a visitor of Colab."""
    held = dict(re.findall(r"^([\w.-]+)==(\S+)$", CONSTRAINTS.read_text(), re.MULTILINE))
    pinned = {canonicalize_name(name): version for name, version in held.items()}
    here = [path.name for path in (colab.parents[1] / "beside").glob("*.dist-info")]
    found = dict(name.removesuffix(".dist-info").rsplit("-", 1) for name in here)
    assert len(found) > 100
    there = {canonicalize_name(name): version.partition("+")[0] for name, version in found.items()}
    assert {name: version for name, version in there.items() if pinned.get(name) != version} == {}


@pytest.mark.parametrize("opened", ["", "all"], ids=["as-a-learner-meets-it", "all-open"])
def test_lesson_04_runs_to_its_end(colab: Path, wheel: Path, tmp_path: Path, opened: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        lesson = archive.read("lockstep/material/course/04_communication/lesson.ipynb")
    (tmp_path / "lesson.ipynb").write_bytes(lesson)
    own = environment(LOCKSTEP_HOME=str(tmp_path / "home"), LOCKSTEP_OPEN=opened)
    command = [str(colab), "-c", RUN, str(tmp_path / "lesson.ipynb"), str(tmp_path / "s")]
    done = subprocess.run(command, capture_output=True, text=True, env=own, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads((tmp_path / "lesson.ipynb").read_text())["cells"]
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    pictures = sum("text/html" in output.get("data", {}) for output in outputs)
    assert pictures > (30 if opened else 15)
