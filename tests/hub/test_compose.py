"""docker/compose.yaml, the settings of the hub that it starts, and what that would ask of docker (without it)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest
from house import HUB, NO_HUB, ROOT, need

pytestmark = pytest.mark.slow

SECRETS = {
    "LOCKSTEP_PROXY_TOKEN": "p" * 32,
    "LOCKSTEP_GRADER_TOKEN": "g" * 32,
    "LOCKSTEP_INSTRUCTORS": "teacher",
    "LOCKSTEP_INSTRUCTORS_PASSWORD": "i" * 32,
    "LOCKSTEP_LEARNERS_PASSWORD": "l" * 8,
}
HOST_CONFIG = """
import json, sys
from types import SimpleNamespace
from docker import APIClient
from dockerspawner import DockerSpawner
from traitlets.config import PyFileConfigLoader

settings = PyFileConfigLoader("jupyterhub_config.py", sys.argv[1]).load_config()
spawner = DockerSpawner(config=settings, user=SimpleNamespace(name="alice"))
limits = {"mem_limit": spawner.mem_limit, "cpu_period": 100_000, "cpu_quota": int(100_000 * spawner.cpu_limit)}
host = APIClient(base_url="tcp://127.0.0.1:1", version="1.44").create_host_config(**limits, **spawner.extra_host_config)
print(json.dumps({"host": host, "command": spawner.cmd, "volumes": spawner.volumes, "network": spawner.network_name}))
"""


@pytest.fixture(scope="module")
def composed() -> dict[str, Any]:
    """What docker-compose makes of the file."""
    need(shutil.which("docker-compose") is not None, "there is no docker-compose here: sh scripts/system-packages hub")
    done = compose(SECRETS)
    assert done.returncode == 0, done.stderr
    import yaml

    read: dict[str, Any] = yaml.safe_load(done.stdout)
    return read


def compose(settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["docker-compose", "--file", str(ROOT / "docker/compose.yaml"), "config"]
    env = {"PATH": os.environ["PATH"], **settings}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_compose_reads_it_and_asks_for_what_has_no_default(composed: dict[str, Any]) -> None:
    assert set(composed["services"]) == {"proxy", "hub", "grader"}
    for name in ("LOCKSTEP_PROXY_TOKEN", "LOCKSTEP_GRADER_TOKEN", "LOCKSTEP_INSTRUCTORS"):
        refused = compose({key: value for key, value in SECRETS.items() if key != name})
        assert refused.returncode != 0
        assert name in refused.stderr


def test_the_learners_network_leads_nowhere_and_the_hub_alone_holds_the_engine(composed: dict[str, Any]) -> None:
    assert composed["networks"]["learners"] == {"name": "lockstep-learners", "internal": True}
    at = {name: set(service["networks"]) for name, service in composed["services"].items()}
    assert at == {"proxy": {"outside", "learners"}, "hub": {"learners"}, "grader": {"learners"}}
    holders = [name for name, service in composed["services"].items() if "docker.sock" in str(service.get("volumes"))]
    assert holders == ["hub"]


def test_the_hubs_settings_make_what_compose_has(composed: dict[str, Any]) -> None:
    """By the hub's own environment, as compose hands it over, and docker's own library."""
    need((HUB / "bin/jupyterhub").exists(), NO_HUB)
    env = {"PATH": os.environ["PATH"], **composed["services"]["hub"]["environment"], "LOCKSTEP_HUB_STATE": "/tmp"}
    command = [HUB / "bin/python", "-W", "ignore", "-c", HOST_CONFIG, ROOT / "docker"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "not recognized" not in done.stderr, "a misspelt setting"
    asked = json.loads(done.stdout)
    assert asked["network"] == composed["networks"]["learners"]["name"]
    assert asked["command"] == ["lockstep", "lab", "/home/jovyan/lockstep-course"]
    assert composed["volumes"]["exchange"]["name"] in asked["volumes"]
    host = asked["host"]
    assert (host["ShmSize"], host["PidsLimit"], host["Memory"], host["CpuQuota"]) == (1 << 30, 1024, 4 << 30, 200_000)
    assert (host["CapDrop"], host["SecurityOpt"]) == (["ALL"], ["no-new-privileges:true"])
