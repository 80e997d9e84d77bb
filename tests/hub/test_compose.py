"""docker/compose.yaml, the settings of the hub that it starts, and what that would ask of docker (without it)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from composing import SETTINGS, compose, read
from house import HUB, NO_HUB, ROOT, need

pytestmark = pytest.mark.slow

SECRETS = {
    "learners_password": "l" * 8,
    **dict.fromkeys(("instructors_password", "proxy_token", "grader_token"), "s" * 32),
}
TOKEN = """
import sys
from jupyterhub.services.auth import HubOAuth
from traitlets.config import PyFileConfigLoader

settings = PyFileConfigLoader("grader_config.py", sys.argv[1]).load_config()
print(HubOAuth(config=settings, oauth_client_id="service-lockstep").api_token)
"""
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
    return read(ROOT)


@pytest.fixture
def secrets(tmp_path: Path, composed: dict[str, Any]) -> dict[str, str]:
    """The hub's environment, as compose hands it over, with secrets that lie in files of this test."""
    for name, secret in SECRETS.items():
        (tmp_path / name).write_text(f"{secret}\n")
    given = {"PATH": os.environ["PATH"], **composed["services"]["hub"]["environment"], "LOCKSTEP_HUB_STATE": "/tmp"}
    return {name: value.replace("/run/secrets", str(tmp_path)) for name, value in given.items()}


def test_compose_reads_it_and_asks_for_what_has_no_default(composed: dict[str, Any]) -> None:
    assert set(composed["services"]) == {"proxy", "hub", "grader"}
    for name in SETTINGS:
        refused = compose(ROOT, {key: value for key, value in SETTINGS.items() if key != name})
        assert refused.returncode != 0
        assert name in refused.stderr


def test_the_learners_network_leads_nowhere_and_the_hub_alone_holds_the_engine(composed: dict[str, Any]) -> None:
    assert composed["networks"]["learners"] == {"name": "lockstep-learners", "internal": True}
    at = {name: set(service["networks"]) for name, service in composed["services"].items()}
    assert at == {"proxy": {"outside", "learners"}, "hub": {"learners"}, "grader": {"learners"}}
    holders = [name for name, service in composed["services"].items() if "docker.sock" in str(service.get("volumes"))]
    assert holders == ["hub"]


def by_the_hubs_python(program: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    need((HUB / "bin/jupyterhub").exists(), NO_HUB)
    mine = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}  # of the tree that is tried
    command = [HUB / "bin/python", "-W", "ignore", "-c", program, ROOT / "docker"]
    return subprocess.run(command, env=env | mine, capture_output=True, text=True, check=False)


def test_the_hub_says_which_secret_is_missing(secrets: dict[str, str]) -> None:
    for name in ("LEARNERS_PASSWORD", "INSTRUCTORS_PASSWORD", "PROXY_TOKEN", "GRADER_TOKEN"):
        without = {key: value for key, value in secrets.items() if key != f"LOCKSTEP_{name}_FILE"}
        done = by_the_hubs_python(HOST_CONFIG, without)
        assert done.stderr.startswith(f"jupyterhub_config.py: LOCKSTEP_{name}_FILE is not set.")
        assert "Traceback" not in done.stderr


def test_the_graders_server_takes_its_token_from_a_file(secrets: dict[str, str]) -> None:
    done = by_the_hubs_python(TOKEN, secrets)
    assert (done.returncode, done.stdout) == (0, f"{SECRETS['grader_token']}\n"), done.stderr


def test_the_hubs_settings_make_what_compose_has(composed: dict[str, Any], secrets: dict[str, str]) -> None:
    """By the hub's own environment, as compose hands it over, and docker's own library."""
    done = by_the_hubs_python(HOST_CONFIG, secrets)
    assert done.returncode == 0, done.stderr
    assert "not recognized" not in done.stderr, "a misspelt setting"
    asked = json.loads(done.stdout)
    assert asked["network"] == composed["networks"]["learners"]["name"]
    assert asked["command"] == ["lockstep", "lab", "/home/jovyan/lockstep-course"]
    assert composed["volumes"]["exchange"]["name"] in asked["volumes"]
    host = asked["host"]
    assert (host["ShmSize"], host["PidsLimit"], host["Memory"], host["CpuQuota"]) == (1 << 30, 1024, 4 << 30, 200_000)
    assert (host["CapDrop"], host["SecurityOpt"]) == (["ALL"], ["no-new-privileges:true"])
    assert host["ReadonlyRootfs"] is True
    assert list(host["Tmpfs"]) == ["/tmp"]
