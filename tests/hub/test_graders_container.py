"""The graders' container, without docker: its mounts, its read-only root and its rights, as compose.yaml has them, made
by bubblewrap. The graders do all of their work in it, and change nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from composing import read
from house import COPIED, ROOT, SHOWN, House, need, shown_to_all

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), COPIED]

LAB = "00_why_parallel"
GRADER = 1000
USER = (f"--reuid={GRADER}", f"--regid={GRADER}", "--clear-groups")
RIGHTS = ("setpriv", *USER, "--no-new-privs", "--bounding-set=-all")
PAGE = """
import subprocess, sys, time
from urllib.request import urlopen
server = [sys.executable, "-m", "jupyterlab", "--config=/srv/grader_config.py", "--no-browser", "--port=18889"]
started = subprocess.Popen([*server, "--IdentityProvider.token=t"])
while started.poll() is None:
    try:
        print(urlopen("http://127.0.0.1:18889/formgrader?token=t", timeout=30).status)
        break
    except OSError:
        time.sleep(0.5)
started.terminate()
"""


class Container:
    """``compose.yaml``'s service for graders, of a clone below ``at``."""

    def __init__(self, at: Path, clone: Path) -> None:
        self.at, self.clone = at, clone
        self.service: dict[str, Any] = read(clone)["services"]["grader"]
        for name in ("home", "exchange"):  # docker's own volumes
            (at / name).mkdir(exist_ok=True)
            os.chown(at / name, GRADER, GRADER)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/jovyan"}
        env |= {"JUPYTER_CONFIG_PATH": "/srv/course", "NBGRADER_EXCHANGE": "/srv/exchange", "LANG": "C.UTF-8"}
        env |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        inside = ["bwrap", *self._walls(), "--chdir", self.service["working_dir"], *RIGHTS, *command]
        return subprocess.run(inside, env=env, capture_output=True, text=True, check=False)

    def _walls(self) -> list[str]:
        assert self.service["read_only"] is True
        [memory] = [line.partition(":")[0] for line in self.service["tmpfs"]]
        options = ["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--proc", "/proc", "--cap-add", "ALL"]
        options += ["--perms", "1777", "--tmpfs", memory, *shown_to_all(SHOWN), "--tmpfs", "/srv", "--tmpfs", "/home"]
        options += [word for path in SHOWN if path.is_relative_to(memory) for word in ("--ro-bind", path, path)]
        options += ["--perms", "0755", "--dir", self.service["working_dir"]]  # as docker makes it, for its volumes
        for line in self.service["volumes"]:
            source, target, mode = line.split(":")
            own = {"grader": self.at / "home", "exchange": self.at / "exchange"}.get(source, source)
            options += ["--ro-bind" if mode == "ro" else "--bind", own, target]
        return [*map(str, options), "--remount-ro", "/srv", "--remount-ro", "/home"]


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Container:
    need(os.geteuid() == 0 and sys.platform == "linux", "only root of a Linux can give a container to another user")
    need(shutil.which("bwrap") is not None, "there is no bubblewrap here: sh scripts/system-packages hub")
    at = tmp_path_factory.mktemp("container")
    house = House(at)
    for path in (path for name in ("grading", "labs", "solutions") for path in (house.course / name).rglob("*")):
        os.chown(path, GRADER, GRADER)
    for name in ("grading", "labs", "solutions"):
        os.chown(house.course / name, GRADER, GRADER)
    (house.course / "docker/secrets").mkdir(mode=0o700)
    (house.course / "docker/hub.env").write_text("LOCKSTEP_INSTRUCTORS=teacher\n")
    return Container(at, house.course)


def test_graders_hand_out_grade_and_return_in_it(container: Container) -> None:
    for step in (f"nbgrader generate_assignment {LAB} --force", f"nbgrader release_assignment {LAB}"):
        done = container.run("sh", "-c", step)
        assert done.returncode == 0, done.stderr
    handed_in = container.clone / "grading/submitted/ada" / LAB / "lab.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text(solved((container.clone / "labs" / LAB / "lab.ipynb").read_text()))
    for path in (handed_in, *list(handed_in.parents)[:3]):
        os.chown(path, GRADER, GRADER)
    graded = container.run("sh", "-c", f"lockstep grade {LAB} || lockstep grade {LAB} --unsafe")
    assert graded.returncode == 0, graded.stderr
    assert "ada,graded,1," in (container.clone / "grading" / f"{LAB}.csv").read_text()
    returned = container.run("nbgrader", "release_feedback", LAB)
    assert returned.returncode == 0, returned.stderr
    assert list((container.at / "exchange/lockstep/feedback").iterdir())
    assert list((container.at / "home").rglob("grading_seed")), "it outlives the container"


def solved(lab: str) -> str:
    notebook = json.loads(lab)
    [cell] = [one for one in notebook["cells"] if "def amdahl" in "".join(one["source"]) and one["cell_type"] == "code"]
    cell["source"] = "def amdahl(p, s):\n    return 1 / ((1 - p) + p / s)"
    return json.dumps(notebook)


def test_their_page_opens_in_it(container: Container) -> None:
    done = container.run("python", "-c", PAGE)
    assert done.stdout == "200\n", done.stderr


@pytest.mark.parametrize(
    "place",
    [
        "/srv/course/nbgrader_config.py",
        "/srv/course/course/index.ipynb",
        "/srv/course/new",
        "/srv/grader_config.py",
        "/srv/new",
        "/home/new",
        "/etc/passwd",
        str(ROOT / "docker/jupyterhub_config.py"),
    ],
)
def test_they_change_nothing_else(container: Container, place: str) -> None:
    """The whole clone was theirs to write, the hub's configuration with it."""
    done = container.run("python", "-c", f"open({place!r}, 'a')")
    assert "Read-only file system" in done.stderr or "Permission denied" in done.stderr, done


def test_they_see_no_configuration_and_no_secret_of_the_hub(container: Container) -> None:
    done = container.run("ls", "-A", "/srv/course", "/srv")
    seen = set(done.stdout.split())
    assert {"grading", "labs", "solutions", "course"} <= seen
    assert not seen & {"docker", "hub.env", "secrets", ".git", ".venv"}
    rights = container.run("grep", "-E", "^(CapEff|CapBnd|NoNewPrivs)", "/proc/self/status").stdout.split()
    assert rights == ["CapEff:", "0000000000000000", "CapBnd:", "0000000000000000", "NoNewPrivs:", "1"]
