"""The plain install, where nothing but what it asks for is there: no Jupyter, no scikit-learn, no numba.

A sdist of this tree, the wheel of that sdist, and in a new environment that wheel beside the installed packages that it
and torch need, and pytest, for whoever has tests of their own. pip downloads nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_docs import committed

from lockstep.distribution import NAME, VERSION

ROOT = Path(__file__).parents[1]
ENGINE = ("torch", "numpy", "cloudpickle", "psutil", "platformdirs")
pytestmark = [pytest.mark.slow, pytest.mark.reads("**"), pytest.mark.timeout(600)]

BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


def built(kind: str, source: Path, to: Path) -> Path:
    """What pip and build ask of setuptools: a sdist or a wheel of the tree."""
    command = [sys.executable, "-c", BUILD, f"build_{kind}", str(to)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    return to / done.stdout.strip().splitlines()[-1]


def environment(**more: str) -> dict[str, str]:
    """This process's, without what would let another Lockstep be found."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    clone, made = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("sdist")
    for path in committed():
        place = clone / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return built("sdist", clone, made)


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    [source] = unpacked.iterdir()
    return built("wheel", source, tmp_path_factory.mktemp("wheel"))


def needed(names: Iterable[str]) -> dict[str, Path]:
    """These packages and all that they need, as they are installed here: top-level file → its path."""
    files: dict[str, Path] = {}
    waiting, seen = list(names), set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:  # of another platform
            continue
        tops = {Path(file).parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        files |= {top: Path(str(found.locate_file(top))) for top in tops}
        wanted = [Requirement(line) for line in found.requires or ()]
        waiting += [one.name for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})]
    return files


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel."""
    place = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    [site] = place.glob("lib/python3*/site-packages")
    beside = place / "beside"
    beside.mkdir()
    for name, path in needed((*ENGINE, "pytest")).items():
        (beside / name).symlink_to(path)
    (site / "beside.pth").write_text(f"{beside}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, str(wheel)], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    return place / "bin"


def ran(bare: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    own = environment(LOCKSTEP_HOME=str(folder / "home"))
    return subprocess.run(
        [str(bare / command[0]), *command[1:]], cwd=folder, env=own, capture_output=True, text=True, timeout=200
    )


def test_the_sdist_and_the_wheel_bear_the_name(sdist: Path, wheel: Path) -> None:
    stem = f"{NAME.replace('-', '_')}-{VERSION}"
    assert (sdist.name, wheel.name) == (f"{stem}.tar.gz", f"{stem}-py3-none-any.whl")


def test_the_wheel_of_the_sdist_has_the_whole_package(wheel: Path) -> None:
    """And nothing beside it: no tests, no caches."""
    with zipfile.ZipFile(wheel) as archive:
        there = {name for name in archive.namelist() if not name.startswith("lockstep/material/")}
    ours = {path.relative_to(ROOT / "pkg").as_posix() for path in committed() if path.is_relative_to(ROOT / "pkg")}
    assert ours - there == set()
    assert {name for name in there - ours if ".dist-info/" not in name} == set()


def test_all_that_the_plain_install_asks_for_is_in_the_environment(bare: Path, tmp_path: Path) -> None:
    program = (
        "from importlib.metadata import requires, version\n"
        "import re\n"
        f"wanted = [line for line in requires({NAME!r}) if 'extra ==' not in line]\n"
        "print(*(re.match(r'[\\w.-]+', line)[0] for line in wanted))\n"
        "[version(re.match(r'[\\w.-]+', line)[0]) for line in wanted]\n"
        f"import lockstep, lockstep.distribution as d; assert version({NAME!r}) == d.VERSION\n"
        "from importlib.util import find_spec\n"
        "assert not [name for name in d.EXTRA_OF if find_spec(name)]\n"
    )
    done = ran(bare, tmp_path, "python", "-c", program)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(ENGINE)


def test_the_two_minutes_of_the_readme(bare: Path, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text().partition("## Two minutes")[2].partition("\n## ")[0]
    first, second = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    second = re.sub(r"^(run\(.*)$", "try:\n    \\1\nexcept Deadlock as error:\n    print(error)", second, flags=re.M)
    program = (
        f"{first}\n"
        "assert [float(v if v is not None else -1) for v in [r.time, r.peak_memory[0]]]\n"
        "assert len(r.values) == 64 and r.values[0][0] == sum(range(64))\n"
        "print(len(r.trace.of_kind('all_reduce')), r.show().svg()[:4])\n"
        "import json; assert json.loads(r.trace.to_chrome())['traceEvents']\n"
        f"from lockstep.errors import Deadlock\n{second}\n"
    )
    (tmp_path / "two_minutes.py").write_text(program)
    done = ran(bare, tmp_path, "python", "two_minutes.py")
    assert done.returncode == 0, done.stderr
    first_line, told = done.stdout.split("\n", 1)
    assert first_line == "64 <svg"
    assert "Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank 0" in told


def test_a_script_runs_and_writes_its_trace(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import torch, torch.distributed as dist\n"
        "dist.init_process_group()\n"
        "x = torch.ones(8)\n"
        "dist.all_reduce(x)\n"
        "if dist.get_rank() == 0: print('sum', int(x[0]))\n"
    )
    done = ran(bare, tmp_path, "lockstep", "run", "--ranks", "4", "--on", "dgx-a100", "--trace", "t.json", "script.py")
    assert done.returncode == 0, done.stderr
    assert "sum 4" in done.stdout
    assert "all_reduce" in {event["name"] for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]}
    done = ran(bare, tmp_path, "lockstep", "show", "t.json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t.html").exists()


def test_tests_on_ranks_run(bare: Path, tmp_path: Path) -> None:
    """The first program of docs/pytest.md. The wheel's entry point is all that pytest knows of the plugin."""
    imports, ring = re.findall(r"```python\n(.*?)```", (ROOT / "docs/pytest.md").read_text(), re.DOTALL)[:2]
    (tmp_path / "test_ring.py").write_text(f"{imports}\n{ring}")
    done = ran(bare, tmp_path, "python", "-m", "pytest", "-rp", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    passed = [line for line in done.stdout.splitlines() if line.startswith("PASSED")]
    assert passed == [f"PASSED test_ring.py::test_ring_sum[ranks={n}]" for n in (2, 4)]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("units",), 0, ""),
        (("progress",), 0, ""),
        (("lab", "mine"), 2, "JupyterLab is not installed beside Lockstep."),
        (("check", "why_parallel.amdahl", "--reference"), 3, "This needs safetensors, which is not installed."),
        (("grade", "04_communication"), 3, "which is not installed."),
    ],
)
def test_a_command_works_or_says_what_brings_it(
    bare: Path, tmp_path: Path, command: tuple[str, ...], code: int, said: str
) -> None:
    done = ran(bare, tmp_path, "lockstep", *command)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert ("pip install 'lockstep-lab[course]'" in done.stderr) == bool(said)
    assert "Traceback" not in done.stderr


def test_a_name_of_the_course_says_what_brings_it(bare: Path, tmp_path: Path) -> None:
    done = ran(bare, tmp_path, "python", "-c", "from lockstep import check")
    assert done.stderr.splitlines()[-2:] == [
        "ImportError: This needs safetensors, which is not installed.",
        "The extra course of Lockstep brings it: pip install 'lockstep-lab[course]'",
    ]
