"""The image that a workshop or a hub starts: built from nothing, and used by the user that it has, who is not root."""

import os
import runpy
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.reads("docker/", ".dockerignore", "MANIFEST.in")  # the course in it is tried by other tests

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "image"
TOKEN = f"trial-{uuid.uuid4().hex}"  # by which this trial's JupyterLab is told from another's


def builder() -> str:
    """Why no image can be built here."""
    if os.geteuid() != 0:
        return "buildah needs root here"
    missing = [name for name in ("buildah", "debootstrap") if not shutil.which(name)]
    return f"missing: {', '.join(missing)} (scripts/system-packages image)" if missing else ""


def test_pips_settings_are_those_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip config list` prints, and the folders that an image has to see while it is built."""
    monkeypatch.setenv("PIP_FIND_LINKS", str(ROOT / "docs"))
    script = runpy.run_path(str(SCRIPT))
    settings = script["settings_of_pip"]()
    assert settings["find-links"] == str(ROOT / "docs")
    assert script["paths_in"]({"find-links": f"file://{ROOT}/docs", "timeout": "3"}) == [str(Path(*ROOT.parts[:3]))]
    assert script["paths_in"]({"cert": "/there/is/none"}) == []


def test_an_image_holds_what_git_tracks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root builds it, also from a user's clone: "dubious ownership" was all that git said."""
    clone, image = tmp_path / "clone", tmp_path / "image"
    for file in ("scripts/image", "docker/cpu.Dockerfile"):
        (clone / file).parent.mkdir(parents=True)
        shutil.copy(ROOT / file, clone / file)
    (clone / ".gitignore").write_text(".venv\n")
    (clone / ".venv").mkdir()
    (clone / ".venv" / "pyvenv.cfg").touch()
    for words in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *words], cwd=clone, check=True)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    runpy.run_path(str(clone / "scripts/image"))["tracked"](image)
    held = sorted(str(path.relative_to(image)) for path in image.rglob("*") if path.is_file())
    assert held == [".gitignore", "docker/cpu.Dockerfile", "scripts/image"]


def test_what_an_image_installs_before_lockstep(tmp_path: Path) -> None:
    for file in ("pyproject.toml", "docker/needs.py"):
        shutil.copy(ROOT / file, tmp_path)
    asked = [sys.executable, str(tmp_path / "needs.py"), "course", "dask", "hub"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.partition(">")[0] for line in lines}
    assert {"jupyterlab", "nbgrader", "dask", "distributed", "jupyterhub"} <= names
    assert "torch" not in names


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.skipif(bool(builder()), reason=builder())
def test_the_image_is_built_and_used(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, str(SCRIPT), "--try"],
        env=os.environ | {"LOCKSTEP_IMAGES": str(tmp_path / "images"), "LOCKSTEP_TRIAL": TOKEN},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(tmp_path / "images", ignore_errors=True)  # six gigabytes
    said = made.stdout + made.stderr
    assert made.returncode == 0, said[-6000:]
    assert "communication.ring_all_reduce: Right." in said
    assert "JupyterLab serves lesson 00" in said
    left = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if TOKEN in " ".join(p.info["cmdline"] or [])]
    assert left == []  # JupyterLab served on after its shell had ended: chroot isolation has no process namespace
