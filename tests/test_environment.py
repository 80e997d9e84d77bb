"""pip, conda and the set-up script install the same things: pyproject.toml says what, the others follow."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = [line.strip()[2:] for line in (ROOT / "environment.yml").read_text().splitlines() if line.strip()[:2] == "- "]
SETUP = (ROOT / "scripts" / "setup").read_text()


def pinned_torch(text: str) -> Version:
    [version] = set(re.findall(r"torch==([\d.]+)", text))
    return Version(version)


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


@pytest.mark.parametrize("text", [SETUP, "\n".join(CONDA)], ids=["scripts/setup", "environment.yml"])
def test_torch_is_pinned_to_what_the_project_takes(text: str) -> None:
    [torch] = [Requirement(r) for r in PROJECT["dependencies"] if Requirement(r).name == "torch"]
    assert pinned_torch(text) in torch.specifier
    assert pinned_torch(text) == pinned_torch(SETUP)


def test_conda_installs_the_project_itself_and_no_second_list() -> None:
    """A package that stood in both files could get two versions; so environment.yml names none of the project's."""
    assert "--editable .[dev]" in CONDA
    named = {re.split(r"[<>=]", line)[0] for line in CONDA}
    assert named & {Requirement(r).name for r in PROJECT["dependencies"]} == {"torch"}


def test_the_setup_script_installs_the_tests_needs_too() -> None:
    assert "--editable '.[dev]'" in SETUP
    assert {Requirement(r).name for r in PROJECT["optional-dependencies"]["dev"]} >= {"pytest", "ruff", "mypy"}
