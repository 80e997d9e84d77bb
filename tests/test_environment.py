"""pip, conda and the set-up script install the same: pyproject.toml says what, and constraints.txt which version."""

import os
import re
import runpy
import subprocess
import tomllib
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lockstep.with_horovod.installing import RUNTIME, TOOLS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = [line.strip()[2:] for line in (ROOT / "environment.yml").read_text().splitlines() if line.strip()[:2] == "- "]
SETUP = (ROOT / "scripts" / "setup").read_text()
HELD = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]


def test_conda_brings_a_python_that_the_project_takes() -> None:
    [python] = [line.removeprefix("python") for line in CONDA if line.startswith("python")]
    ours, theirs = SpecifierSet(PROJECT["requires-python"]), SpecifierSet(python)
    minors = [f"3.{minor}" for minor in range(8, 15)]
    assert [v for v in minors if v in theirs] == [v for v in minors if v in ours]


def test_the_setup_script_wants_the_same_python() -> None:
    [bounds] = re.findall(r"\(3, (\d+)\) <= sys.version_info\[:2\] <= \(3, (\d+)\)", SETUP)
    [python] = [line.removeprefix("python") for line in CONDA if line.startswith("python")]
    for minor in range(8, 20):
        assert (int(bounds[0]) <= minor <= int(bounds[1])) == (f"3.{minor}" in SpecifierSet(python))


def needed(extra: str = "") -> list[Requirement]:
    listed = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    return [Requirement(r) for r in listed if not r.startswith("lockstep")]


def test_each_package_is_held_at_a_version_that_the_project_takes() -> None:
    held = {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in map(Requirement, HELD)}
    extras = ("course", "dask", "horovod", "dev", "site")
    for requirement in [*needed(), *(each for extra in extras for each in needed(extra))]:
        assert held[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_what_horovod_needs_is_said_once_more_where_it_is_built() -> None:
    assert sorted(map(str, needed("horovod"))) == sorted(str(Requirement(r)) for r in TOOLS + RUNTIME)


def test_held_versions_are_those_of_no_one_machine() -> None:
    """A name and a version: no build (+cpu), no path, no address; and each package once."""
    assert HELD
    assert [line for line in HELD if not re.fullmatch(r"[\w.-]+==[\w.!]+", line)] == []
    assert len({canonicalize_name(Requirement(line).name) for line in HELD}) == len(HELD)


@pytest.mark.parametrize("python", ["3.11.0", "3.11.2", "3.12.0", "3.13.0", "3.14.0"])
def test_held_versions_are_for_every_python_that_the_project_takes(python: str) -> None:
    """On Debian 12, whose Python is 3.11.2, pip tried one version of everything after the other and gave up: soupsieve
    was held at a version for 3.11.5 and newer."""
    held = {canonicalize_name(Requirement(line).name) for line in HELD}
    asked = {d.metadata["Name"]: d.metadata["Requires-Python"] for d in distributions()}
    too_new = [
        f"{name}: Python {wanted}"
        for name, wanted in asked.items()
        if wanted and canonicalize_name(name) in held and python not in SpecifierSet(wanted)
    ]
    assert too_new == []


def test_the_head_names_the_pythons_that_were_never_tried() -> None:
    head = " ".join(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("#"))
    tried, *never = dict.fromkeys(re.findall(r"3\.\d+", head))
    assert sorted([tried, *never]) == [f"3.{minor}" for minor in range(11, 15)]
    assert runpy.run_path(str(ROOT / "scripts" / "constraints"))["MINORS"] == range(11, 15)


def test_constraints_are_written_from_what_pip_lists() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "constraints"))["constraints"]
    frozen = "torch==2.13.0+cpu\n# Editable install\n-e /home/ada/lockstep\nnumpy==2.4.6\nx @ file:///tmp/x.whl\n"
    assert [line for line in written(frozen).splitlines() if line[0] != "#"] == ["torch==2.13.0", "numpy==2.4.6"]


def test_conda_installs_the_project_itself_at_the_held_versions_and_no_second_list() -> None:
    """A package that stood in both files could get two versions; so environment.yml names none of the project's."""
    assert {"--editable .[course,dask]", "--constraint constraints.txt"} <= set(CONDA)
    named = {re.split(r"[<>=]", line)[0] for line in CONDA}
    assert named & {r.name for r in [*needed(), *needed("course"), *needed("dev")]} == set()


FAKE_PYTHON = """\
#!/bin/sh
[ "$1" = -c ] && exit 0
echo "$@" >> pip.log
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What scripts/setup needs, with a Python in .venv that only writes down what it is asked."""
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/setup", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text(FAKE_PYTHON)
    (tmp_path / ".venv/bin/python").chmod(0o755)
    return tmp_path


def installed(project: Path, *arguments: str) -> list[str]:
    """What a run of scripts/setup asks pip for."""
    log = project / "pip.log"
    log.unlink(missing_ok=True)
    environment = os.environ | {"PIP_ARGS": "--index-url https://example.org"}
    command = ["sh", "scripts/setup", *arguments]
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True, timeout=60)
    asked = log.read_text().splitlines() if log.exists() else []
    common = "-m pip install --disable-pip-version-check --constraint constraints.txt --index-url https://example.org "
    return [line.removeprefix(common) for line in asked if "install" in line]


def test_a_learner_gets_what_the_lessons_need_and_a_developer_the_tests_needs_too(project: Path) -> None:
    assert installed(project) == ["torch", "--editable .[course,dask]"]
    assert installed(project) == [], "all is there"
    assert installed(project, "dev") == ["torch", "--editable .[dev]"]
    assert installed(project, "dev") == []
    assert installed(project) == []
    (project / "constraints.txt").write_text("torch==2.14.0\n")
    assert installed(project) == ["torch", "--editable .[course,dask]"], "another version is wanted now"
    assert installed(project, "dev") == ["torch", "--editable .[dev]"]


def test_whoever_builds_the_site_has_the_rest(project: Path) -> None:
    assert installed(project, "site") == ["torch", "--editable .[site]"]
    assert [installed(project), installed(project, "dev"), installed(project, "site")] == [[], [], []]


def test_whoever_has_the_tests_needs_has_a_learners(project: Path) -> None:
    assert installed(project, "dev") == ["torch", "--editable .[dev]"]
    assert installed(project) == []


def on_a_terminal(project: Path, python: str) -> str:
    """What a person sees of a setup whose pip is this script."""
    (project / ".venv/bin/python").write_text(python)
    (project / "constraints.txt").write_text("torch==2.14.0\n")
    ours, theirs = os.openpty()
    with subprocess.Popen(["sh", "scripts/setup"], cwd=project, stdout=theirs, stderr=theirs) as setup:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # Linux says so where nobody has the other end any more
            while part := os.read(ours, 4096):
                seen += part
    os.close(ours)
    return f"{seen.decode()}\nended with {setup.returncode}"


def test_setup_says_how_long_it_takes_and_shows_one_line(project: Path) -> None:
    """pip printed 180 lines before a learner saw anything of the course."""
    chatty = f"{FAKE_PYTHON}for i in 1 2 3; do echo Collecting package-$i; done\nsleep 1.5\n"
    seen = on_a_terminal(project, chatty)
    assert seen.endswith("ended with 0")
    assert "about a minute" in seen.splitlines()[0]
    assert "1 of 2, torch" in seen
    assert "Collecting package-3" in seen
    lines = [line.split("\r")[-1].replace("\033[K", "") for line in seen.replace("\r\n", "\n").split("\n")]
    assert not any("Collecting" in line for line in lines), "it was written over"


def test_what_pip_cannot_do_is_shown(project: Path) -> None:
    failing = f'{FAKE_PYTHON}echo \'ERROR: no such version\'\n[ "$2" = pip ] && [ "$3" = --version ] || exit 1\n'
    seen = on_a_terminal(project, failing)
    assert "ERROR: no such version" in seen
    assert "pip could not install torch" in seen
    assert "ended with 1" in seen


def test_the_extras_of_developers_are_the_tests_needs() -> None:
    assert {r.name for r in needed("dev")} >= {"pytest", "ruff", "mypy"}
    assert re.search(r"^test: setup-dev$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert re.search(r"^lab: setup$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_setup_takes_away_what_had_the_name_before(project: Path) -> None:
    """Whoever had set up a clone had the distribution lockstep: both would own the command and the package."""
    assert "uninstall" not in " ".join(installed(project))
    (project / "constraints.txt").write_text("torch==2.14.0\n")
    (project / ".venv/lib/python3.11/site-packages/lockstep-0.2.0.dist-info").mkdir(parents=True)
    (project / ".venv/lib/python3.11/site-packages/lockstep_lab-0.2.0.dist-info").mkdir()
    first, *others = installed(project)
    assert first == "-m pip uninstall --yes --quiet --disable-pip-version-check lockstep"
    assert others == ["torch", "--editable .[course,dask]"]
