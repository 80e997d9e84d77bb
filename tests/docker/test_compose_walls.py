"""What docker/compose.yaml lets each container see and do, read by ourselves; docs/hub.md promises it.

The graders' container saw the whole clone and could write it, the hub's configuration included, which the hub runs as
root beside docker's socket: whoever could grade, or had an answer graded without a sandbox, was root of the machine."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PRIVATE = ("docker/hub.env", "docker/secrets/grader_token")
RECIPES = sorted(DOCKER.glob("*.Dockerfile"))
pytestmark = pytest.mark.reads("docker/", ".gitignore", ".dockerignore", "scripts/image")


class Volume(NamedTuple):
    source: str  # of the clone, from its root; "/…" of the machine; a name of docker's
    target: str
    writable: bool


def volumes(service: str) -> list[Volume]:
    found = []
    for line in SERVICES[service].get("volumes", []):
        source, target, *mode = line.split(":")
        if source.startswith("."):
            source = os.path.relpath(DOCKER / source, ROOT)
        found.append(Volume(source, target, mode != ["ro"]))
    return found


def test_the_graders_can_write_what_they_grade_and_nothing_else() -> None:
    writable = {volume.source for volume in volumes("grader") if volume.writable}
    assert writable == {"grading", "labs", "solutions", "exchange", "grader"}


def test_the_graders_see_of_the_clone_what_they_need() -> None:
    seen = {volume.source for volume in volumes("grader") if not volume.writable}
    assert seen == {"course", "docs", "nbgrader_config.py", "docker/grader_config.py"}
    for private in PRIVATE:
        assert not [one for one in volumes("grader") if f"{private}/".startswith(f"{one.source}/")]


def test_nobody_but_the_hub_holds_the_engine_and_it_writes_nothing_of_the_clone() -> None:
    assert [name for name in SERVICES if "docker.sock" in str(volumes(name))] == ["hub"]
    assert {volume.source for volume in volumes("hub") if volume.writable} == {"/var/run/docker.sock", "hub"}
    assert volumes("proxy") == []


@pytest.mark.parametrize("name", SERVICES)
def test_each_container_has_the_walls_that_learners_have(name: str) -> None:
    """The graders' had neither a read-only root nor no-new-privileges, the proxy and the hub none of all."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "network_mode", "userns_mode"} & set(service)
    learners = (DOCKER / "jupyterhub_config.py").read_text()
    for wall in ('"cap_drop": ["ALL"]', '"security_opt": ["no-new-privileges:true"]', '"read_only": True'):
        assert wall in learners


def test_root_is_the_hub_alone() -> None:
    assert {name: service.get("user") for name, service in SERVICES.items() if "user" in service} == {"hub": "root"}
    for recipe in RECIPES:
        assert re.findall(r"^USER (.+)$", recipe.read_text(), re.MULTILINE)[-1] == "1000"


def test_each_container_sees_the_secrets_that_it_needs() -> None:
    given = {name: set(service.get("secrets", [])) for name, service in SERVICES.items()}
    assert given == {"proxy": {"proxy_token"}, "grader": {"grader_token"}, "hub": set(COMPOSE["secrets"])}
    assert set(COMPOSE["secrets"]) == {"proxy_token", "grader_token", "instructors_password", "learners_password"}
    for name, secret in COMPOSE["secrets"].items():
        assert secret == {"file": f"${{LOCKSTEP_SECRETS:-./secrets}}/{name}"}


def test_no_secret_stands_in_an_environment() -> None:
    """`docker inspect` and every process of a container could read the passwords."""
    for service in SERVICES.values():
        secret = {k: v for k, v in service.get("environment", {}).items() if re.search("PASSWORD|TOKEN|SECRET", k)}
        assert all(k.endswith("_FILE") and v.startswith("/run/secrets/") for k, v in secret.items()), secret


@pytest.mark.parametrize("private", PRIVATE)
def test_git_and_images_leave_secrets_out(private: str) -> None:
    """`docker/hub.env`, with all passwords in it, was one `git add .` away from being published."""
    asked = ["git", "-c", f"safe.directory={ROOT}", "check-ignore", "--quiet", private]
    assert subprocess.run(asked, cwd=ROOT, check=False).returncode == 0
    assert left_out(private, ROOT), "of an image of the clone"
    assert left_out(private.removeprefix("docker/"), DOCKER), "of the proxy's image, whose folder is docker/"


def left_out(path: str, context: Path) -> bool:
    """Whether docker sends this file to no builder: the last line of .dockerignore that fits decides."""
    out = False
    lines = (line.strip() for line in (context / ".dockerignore").read_text().splitlines())
    for line in (line for line in lines if line and not line.startswith("#")):
        pattern = line.removeprefix("!")
        if any(fnmatch(str(part), pattern) for part in (Path(path), *Path(path).parents)):
            out = not line.startswith("!")
    return out


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_base_image_has_its_full_version_and_can_be_pinned(recipe: Path) -> None:
    """`node:22` and `python:3.11` are another image each month, and there was no place for a digest."""
    text = recipe.read_text()
    defaults = dict(re.findall(r"^ARG (\w+_IMAGE)=(\S+)$", text, re.MULTILINE))
    stages = set(re.findall(r" AS (\w+)$", text, re.MULTILINE))
    bases = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) - stages
    assert bases == {f"${{{name}}}" for name in defaults}
    for image in defaults.values():
        assert re.search(r":\d+\.\d+\.\d+-", image), image


def test_compose_builds_the_proxy_from_the_same_image() -> None:
    [default] = re.findall(r"^ARG NODE_IMAGE=(\S+)$", (DOCKER / "proxy.Dockerfile").read_text(), re.MULTILINE)
    assert SERVICES["proxy"]["build"]["args"] == {"NODE_IMAGE": f"${{LOCKSTEP_NODE_IMAGE:-{default}}}"}


def test_the_image_that_is_tried_here_is_built_on_the_base_that_the_recipe_names() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "image"))
    assert f"ARG PYTHON_IMAGE={script['BASE']}\n" in (DOCKER / "cpu.Dockerfile").read_text()
