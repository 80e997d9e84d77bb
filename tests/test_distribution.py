"""What pip calls Lockstep, and what each part of it needs."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_docs import committed, text_of

import lockstep
from lockstep import distribution
from lockstep.cli import main

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OLD_NAME = re.compile(r"(?<![\w./-])lockstep\[[a-z]|pip3? install[^\n`]*[ '\"]lockstep(?![\w./-])")
pytestmark = pytest.mark.reads("**")


def test_nobody_is_told_to_install_another_project() -> None:
    """On PyPI, lockstep is not this Lockstep: whoever typed what a message said got somebody else's code."""
    told = {path.relative_to(ROOT) for path in committed() if OLD_NAME.search(text_of(path) or "")}
    assert told <= {Path(__file__).relative_to(ROOT)}


@pytest.mark.parametrize(
    ("line", "is_old"),
    [
        ("pip install lockstep", True),
        ("python -m pip install -U 'lockstep[gpu]'", True),
        ('needs `pip install \\"lockstep[gpu]\\"`', True),
        ('"lockstep[dask]",', True),
        ("pip install lockstep-lab", False),
        ("pip install 'lockstep-lab[gpu]'", False),
        ("pip install lockstep_lab-0.2.0-py3-none-any.whl", False),
        ("pip install ./lockstep", False),
    ],
)
def test_the_old_name_is_seen(line: str, is_old: bool) -> None:
    assert bool(OLD_NAME.search(line)) == is_old


def test_the_name_and_the_version_are_those_of_the_project() -> None:
    assert PROJECT["name"] == distribution.NAME
    assert PROJECT["dynamic"] == ["version"]
    dynamic = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["dynamic"]
    assert dynamic == {"version": {"attr": "lockstep.distribution.VERSION"}}


def test_the_changelog_and_the_citation_know_the_version() -> None:
    assert f"## {distribution.VERSION}" in (ROOT / "CHANGELOG.md").read_text().split("\n\n")[2]
    assert f"version: {distribution.VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"license: {PROJECT['license']}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_engine_needs_five_packages() -> None:
    needed = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert needed == {"torch", "numpy", "cloudpickle", "psutil", "platformdirs"}


@pytest.mark.parametrize("extra", ["course", "dask"])
def test_of_each_package_of_an_extra_it_is_known_who_brings_it(extra: str) -> None:
    """So that a module that is missing is told with the extra, and not as a traceback."""
    listed = {canonicalize_name(Requirement(line).name) for line in PROJECT["optional-dependencies"][extra]}
    modules: dict[str, set[str]] = {}
    for module, brought_by in packages_distributions().items():
        for name in map(canonicalize_name, brought_by):
            modules.setdefault(name, set()).add(module)
    known = {module for module, brought_by in distribution.EXTRA_OF.items() if brought_by == extra}
    assert {name for name in listed if not modules[name] & known} == set()


@pytest.fixture
def without_jupyter(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, given: Mapping[str, Any] | None = None, *rest: Any) -> Any:
        if name.partition(".")[0] in ("safetensors", "nbformat", "IPython"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, given, *rest)

    for module in [m for m in sys.modules if m.startswith(("lockstep.grading.build", "lockstep.cli.build"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", absent)


@pytest.mark.usefixtures("without_jupyter")
def test_a_command_of_the_course_says_what_the_plain_install_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--check"]) == 3
    assert capsys.readouterr().err == (
        "lockstep: This needs nbformat, which is not installed.\n"
        "The extra course of Lockstep brings it: pip install 'lockstep-lab[course]'\n"
    )


def test_what_nothing_of_ours_brings_is_an_error_like_any_other() -> None:
    assert distribution.missing(ModuleNotFoundError("No module named 'x'", name="x")) is None
    assert distribution.missing(ImportError("cannot import name 'x' from 'numba'", name="numba")) is None
    assert distribution.missing(ModuleNotFoundError("…", name="sklearn.svm")) == ("sklearn", "course")


def imported(program: str) -> list[str]:
    told = "\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", "import sys\n" + program + told], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_to_import_lockstep_is_to_import_next_to_nothing() -> None:
    """No torch, and few modules in all: the rest comes with the first name that is used."""
    found: Sequence[str] = imported("before = set(sys.modules)\nimport lockstep")
    ours = {name for name in found if name.partition(".")[0] == "lockstep"}
    assert ours == {"lockstep", "lockstep.distribution", "lockstep.moved", "lockstep.shadows"}
    assert not {"torch", "numpy", "importlib.metadata", "argparse", "typing_extensions"} & set(found)
    assert lockstep.__name__ == "lockstep"
