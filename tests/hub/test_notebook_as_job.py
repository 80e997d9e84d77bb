"""A learner's notebook as a job of Slurm: the project's own hub, batchspawner, a Slurm of two nodes on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from house import COPIED, HUB, NO_HUB, ROOT, UIDS, House, need
from house_with_slurm import NODES, SlurmHouse
from people import Person, person, shot
from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.xdist_group("slurm"),
    pytest.mark.timeout(1500),
    pytest.mark.reads("tests/slurm/"),
    COPIED,
]

CELL = """import json, os
import torch
import torch.distributed as dist
from lockstep import run

def total():
    x = torch.tensor([dist.get_rank() + 1.0])
    dist.all_reduce(x)
    return x.item()

found = {"job": os.environ["SLURM_JOB_ID"], "node": os.environ["SLURMD_NODENAME"], "user": os.getuid(),
         "processes": run(total, ranks=2).values, "virtual": run(total, ranks=4, on="virtual").values}
json.dump(found, open("found.json", "w"))"""
DELETE = """async (path) => {
  const token = document.cookie.split('; ').find((c) => c.startsWith('_xsrf='))?.slice(6);
  return (await fetch(path, { method: 'DELETE', headers: { 'X-XSRFToken': token } })).status;
}"""
START = """async ([path, body]) => {
  const token = document.cookie.split('; ').find((c) => c.startsWith('_xsrf='))?.slice(6);
  const headers = { 'X-XSRFToken': token, 'Content-Type': 'application/json' };
  return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).status;
}"""


@pytest.fixture(scope="module")
def slurm_house() -> Iterator[SlurmHouse]:
    need(os.geteuid() == 0 and sys.platform == "linux", "only root of a Linux can give servers to other users")
    need(shutil.which("bwrap") is not None, "there is no bubblewrap here: sh scripts/system-packages hub")
    need((HUB / "bin/batchspawner-singleuser").exists(), NO_HUB)
    need(not SlurmHouse.missing(), f"there is no Slurm here ({SlurmHouse.missing()}): sh scripts/system-packages slurm")
    with tempfile.TemporaryDirectory(prefix="lockstep-slurm-hub-") as at:
        house = SlurmHouse(Path(at))
        hub = house.start()
        try:
            yield house
        finally:
            hub.terminate()
            try:
                hub.wait(30)
            except subprocess.TimeoutExpired:
                hub.kill()
                hub.wait()
            shots = ROOT / "tests" / "screenshots"
            shots.mkdir(exist_ok=True)
            shutil.copy(house.log, shots / "hub-slurm.log")


@pytest.fixture(scope="module")
def alice(slurm_house: SlurmHouse, browser: Browser) -> Iterator[Person]:
    settings = slurm_house.home("alice") / ".jupyter" / "jupyter_lab_config.py"
    settings.parent.mkdir()
    settings.write_text("c.LabApp.expose_app_in_browser = True  # for this test, which looks into JupyterLab\n")
    with person("alice", slurm_house, browser) as alice:
        alice.sign_in("/hub/home")
        alice.page.locator("#start").wait_for()
        yield alice


def test_a_notebook_runs_in_a_job_of_its_learner_with_the_limits_of_the_hub(
    alice: Person, slurm_house: SlurmHouse
) -> None:
    """What the learner asks of the hub's API besides, a longer job say, does not count."""
    assert alice.page.evaluate(START, ["/hub/api/users/alice/server", {"runtime": "59", "nprocs": "4"}]) in (201, 202)
    alice.page.goto(f"{slurm_house.address}/user/alice/lab/tree/course/index.ipynb")
    alice.page.locator(".jp-Notebook h1").get_by_text("Lockstep").wait_for()
    (job,) = slurm_house.jobs()
    assert job[:4] == ["alice", "RUNNING", "2", "30:00"]
    assert job[4] in NODES

    mine = slurm_house.home("alice") / "lockstep-course"
    assert mine.stat().st_mode & 0o077 == 0, "what a server writes is its user's alone"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, mine / "job.ipynb")
    os.chown(mine / "job.ipynb", UIDS["alice"], UIDS["alice"])
    lab = alice.lab()
    lab.open("job.ipynb")
    lab.run(0, timeout=240)
    shot(alice, "slurm-notebook")
    assert lab.errors() == {}
    found = json.loads((mine / "found.json").read_text())
    assert found["user"] == UIDS["alice"]
    assert found["node"] == job[4]
    assert (found["processes"], found["virtual"]) == ([3.0] * 2, [10.0] * 4), "a job is no launcher: run() starts ranks"


def test_a_server_that_is_stopped_gives_its_job_back(alice: Person, slurm_house: SlurmHouse) -> None:
    alice.page.goto(f"{slurm_house.address}/hub/home")
    alice.page.locator("#stop").wait_for()
    assert alice.page.evaluate(DELETE, "/hub/api/users/alice/server") in (202, 204)
    until = time.monotonic() + 120
    while slurm_house.jobs():
        assert time.monotonic() < until, slurm_house.jobs()
        time.sleep(1)


def test_the_hub_looks_at_its_list_and_asks_for_its_own_address_before_it_starts(tmp_path: Path) -> None:
    house = House(tmp_path)
    settings = {"LOCKSTEP_SPAWNER": "slurm", "LOCKSTEP_HUB_IP": "127.0.0.1"}
    named = house.refuses(**settings, LOCKSTEP_LEARNERS_FILE="", LOCKSTEP_LEARNERS="root")
    assert "root" in named
    assert "set LOCKSTEP_HUB_IP; docs/hub.md says what it is." in house.refuses(LOCKSTEP_SPAWNER="slurm")
