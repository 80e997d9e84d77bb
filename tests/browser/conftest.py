"""JupyterLab in a real browser: `lockstep lab`, as `make lab` starts it, in headless Chromium.

Screenshots go to tests/screenshots/ (ignored by git): they are there to be looked at.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import Lab
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
BEHIND = "behind"  # the folder of a teacher's own lessons


def pytest_itemcollected(item: pytest.Item) -> None:
    """One browser at a time: all of these tests run in the same worker of pytest-xdist."""
    item.add_marker(pytest.mark.browser)
    item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `lockstep lab` is told to work in, and copies the course to."""
    return tmp_path_factory.mktemp("learner") / "my-course"


@pytest.fixture(scope="session")
def acting(course: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sample lesson with one cell of each kind, built and put among the others; its path from the course's root."""
    from lockstep.grading.build import build  # nbgrader comes with it, and whoever looks for another test waits for it

    built = tmp_path_factory.mktemp("acting")
    shutil.copytree(ROOT / "tests" / "lessons" / "course", built / "course")
    build(built)
    shutil.copytree(built / "course", course / "course", dirs_exist_ok=True)
    shutil.copytree(built / "pkg/lockstep/lessons", course / BEHIND)
    return "course/90_acting/lesson.ipynb"


@pytest.fixture(scope="session")
def sockets() -> Iterator[str]:
    """A folder for those of JupyterLab's kernels, which bear their names; a socket's path has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="lab-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield folder


@pytest.fixture(scope="session")
def address(course: Path, sockets: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab's address with its token, as `lockstep lab` prints it."""
    private = tmp_path_factory.mktemp("home")
    folders = ("LOCKSTEP_HOME", "JUPYTER_CONFIG_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTERLAB_SETTINGS_DIR",
               "IPYTHONDIR", "JUPYTER_CONFIG_PATH")  # fmt: skip
    environment = os.environ | {"LOCKSTEP_LESSONS": str(course / BEHIND), "JUPYTER_RUNTIME_DIR": sockets}
    environment |= {name: str(private / name.lower()) for name in folders} | {"DISPLAY": ""}
    log = private / "lab.log"
    options = ("--port", "9400", "--LabApp.expose_app_in_browser=True", "--KernelManager.transport=ipc")
    command = [sys.executable, "-m", "lockstep", "lab", str(course), *options]
    with log.open("w") as out:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        yield _printed_address(server, log)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _printed_address(server: subprocess.Popen[bytes], log: Path) -> str:
    """If the port is taken, JupyterLab takes the next one: what it prints is what counts."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        found = re.search(r"http://127\.0\.0\.1:\d+/lab\S*token=\w+", log.read_text())
        if found:
            return found[0]
        assert server.poll() is None, f"`lockstep lab` ended:\n{log.read_text()}"
        time.sleep(0.2)
    raise AssertionError(f"`lockstep lab` printed no address in 90 s:\n{log.read_text()}")


@contextmanager
def window(browser: Browser, address: str, name: str) -> Iterator[Lab]:
    """A new browser window; when it is closed, a last screenshot bears this name."""
    shots = ROOT / "tests" / "screenshots"
    shots.mkdir(exist_ok=True)
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, service_workers="block")
    lab = Lab(context.new_page(), address, shots)
    yield lab
    lab.screenshot(name)
    lab.close()
    context.close()


@pytest.fixture
def lab(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A window of the test's own."""
    with window(browser, address, request.node.name) as lab:
        yield lab


@pytest.fixture(scope="module")
def prepared(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """The module's ``LAB``, open, and its first cell run: one window and one kernel for all tests of a file, which is
    what takes long. A learner goes on in it, too, whatever was wrong before."""
    with window(browser, address, request.module.__name__) as lab:
        lab.open(request.module.LAB)
        lab.run(lab.find("from lockstep import check"))
        yield lab
