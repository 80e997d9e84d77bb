"""The files by which others start the course, and what docs/one-click.md promises of them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest
from packaging.specifiers import SpecifierSet

from lockstep.cli.parser import parse
from lockstep.distribution import NAME, VERSION

ROOT = Path(__file__).parents[2]
# devcontainers/spec at c95ffee, schemas/devContainer.base.schema.json, by Microsoft under CC BY 4.0.
SCHEMA = json.loads((Path(__file__).parent / "devContainer.base.schema.json").read_text())
CONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
PAGE = (ROOT / "docs/one-click.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
BINDER = {path.name: path.read_text() for path in (ROOT / ".binder").iterdir()}
pytestmark = pytest.mark.reads(".devcontainer/", ".binder/", "docs/one-click.md", "Makefile", "docker/cpu.Dockerfile")


def faults(container: dict) -> list[str]:
    return [fault.message for fault in jsonschema.Draft201909Validator(SCHEMA).iter_errors(container)]


def test_the_dev_container_is_as_its_schema_wants() -> None:
    assert faults(CONTAINER) == []


@pytest.mark.parametrize("change", [{"forwardPorts": ["x"]}, {"postCreateCommnd": "make"}, {"remoteUser": 1}])
def test_the_schema_would_say_so(change: dict) -> None:
    assert faults(CONTAINER | change)


def test_its_command_its_recipe_and_its_python_are_there() -> None:
    target = shlex.split(CONTAINER["postCreateCommand"])
    assert target[0] == "make"
    assert re.search(rf"^{target[1]}:", MAKEFILE, re.MULTILINE)
    recipe = (ROOT / ".devcontainer" / CONTAINER["build"]["dockerfile"]).read_text()
    assert f"useradd --create-home --uid 1000 --shell /bin/bash {CONTAINER['remoteUser']}" in recipe
    [python] = re.findall(r"^ARG PYTHON_IMAGE=(\S+)$", recipe, re.MULTILINE)
    assert f"ARG PYTHON_IMAGE={python}\n" in (ROOT / "docker/cpu.Dockerfile").read_text()
    interpreter = CONTAINER["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert interpreter == "${containerWorkspaceFolder}/.venv/bin/python"


def test_hadolint_is_content_with_its_recipe() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    recipe = ROOT / ".devcontainer" / CONTAINER["build"]["dockerfile"]
    done = subprocess.run([hadolint, "--no-color", recipe], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_binder_gets_a_python_and_the_packages_of_the_course_in_their_versions() -> None:
    python = BINDER["runtime.txt"].strip().removeprefix("python-")
    wanted = re.search(r'^requires-python = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert wanted
    assert f"{python}.0" in SpecifierSet(wanted[1])
    lines = [line for line in BINDER["requirements.txt"].splitlines() if not line.startswith("#")]
    assert lines == ["--constraint ../constraints.txt", "--editable .[course,dask]"]
    assert (ROOT / ".binder" / lines[0].split()[1]).resolve() == ROOT / "constraints.txt"
    assert f"--editable {lines[1].split()[1]}" in (ROOT / "environment.yml").read_text()


def test_pip_reads_binders_list() -> None:
    """Where its paths begin: --constraint at the file, --editable at the folder in which Binder runs pip."""
    program = (
        "from pip._internal.req.req_file import parse_requirements\n"
        "from pip._internal.network.session import PipSession\n"
        "for each in parse_requirements('.binder/requirements.txt', session=PipSession()):\n"
        "    print(int(each.constraint), each.requirement)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "0 .[course,dask]"
    assert any(line.startswith("1 torch==") for line in lines)


def test_the_link_for_nbgitpuller_leads_to_the_front_page() -> None:
    [link] = re.findall(r"^https://HUB\S+$", PAGE, re.MULTILINE)
    asked = parse_qs(urlsplit(link).query)
    assert urlsplit(link).path == "/hub/user-redirect/git-pull"
    folder = asked["repo"][0].rpartition("/")[2]
    page = asked["urlpath"][0].removeprefix(f"lab/tree/{folder}/")
    assert (ROOT / page).is_file()


def test_the_page_names_the_wheel_that_is_built() -> None:
    named = set(re.findall(r"lockstep_lab-[\w.-]+\.whl", PAGE))
    assert named == {f"{NAME.replace('-', '_')}-{VERSION}-py3-none-any.whl"}


def test_the_page_tells_options_that_lockstep_lab_has() -> None:
    [given] = re.findall(r'make lab LAB_ARGS="(.*?)"', PAGE)
    assert callable(parse(["lab", *shlex.split(given)]).command)
