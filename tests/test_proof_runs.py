"""The commands of tests/proof on a small checkout: what has passed is noted, and is not run again until it changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROOF = Path(__file__).parent / "proof"
FILES = {
    ".gitignore": "build\n__pycache__\n.pytest_cache\n",
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["slow", "horovod", "reads(path)"]\n',
    "constraints.txt": "",
    ".ci/run": "",
    "tests/conftest.py": "from proof import meter, plugin\n"
    "def pytest_addoption(parser): plugin.add_option(parser)\n"
    "def pytest_configure(config): plugin.register(config)\n",
    "pkg/lockstep/__init__.py": "",
    "pkg/lockstep/testing/pytest_plugin.py": "",  # pytest loads it wherever Lockstep is installed, and finds it here
    "pkg/lockstep/checks.py": "class Exercise:\n    def __init__(self, id): self.id = id\n"
    "def exercises(): return [Exercise('.'.join(['rings', name])) for name in ('one', 'two')]\n",
    "pkg/lockstep/exercises/rings/one/exercise.py": "",
    "pkg/lockstep/exercises/rings/two/exercise.py": "",
    "tests/test_good.py": "import pytest\ndef test_fast(): pass\n@pytest.mark.slow\ndef test_slow(): pass\n",
    "tests/test_sweep.py": "import pytest\nfrom lockstep.checks import exercises\n"
    "@pytest.mark.slow\n@pytest.mark.parametrize('exercise', exercises(), ids=lambda e: e.id)\n"
    "def test_each(exercise): pass\n"
    "def test_all(): pass\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(PROOF, tmp_path / "tests" / "proof", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROOF.parent / "asked.py", tmp_path / "tests")
    for path, text in FILES.items():
        write(tmp_path / path, text)
    for words in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(checkout: Path) -> None:
    subprocess.run(["git", "add", "."], cwd=checkout, check=True)
    subprocess.run(["git", "commit", "-qm", "work"], cwd=checkout, check=True)


def proof(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(checkout / "pkg")}
    command = [sys.executable, "-m", "proof", *words]
    return subprocess.run(
        command, cwd=checkout / "tests", env=environment, capture_output=True, text=True, timeout=200, check=False
    )


def proven(checkout: Path) -> set[str]:
    rows = json.loads((checkout / "tests" / "proven.json").read_text())["modules"]
    return {f"{module}::{of}" if of else module for module, row in rows.items() for of in row}


ALL = {"tests/test_good.py", "tests/test_sweep.py", "tests/test_sweep.py::rings.one", "tests/test_sweep.py::rings.two"}


@pytest.mark.slow
def test_what_has_passed_is_noted_and_not_run_again(checkout: Path) -> None:
    done = proof(checkout, "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
    assert "0 unproven" in done.stdout
    assert proven(checkout) == ALL
    commit(checkout)
    assert "passed" not in proof(checkout, "all").stdout
    write(checkout / "pkg/lockstep/exercises/rings/one/wrong/late.py", "")
    told = proof(checkout, "unproven").stdout.splitlines()
    assert set(told[:-1]) == {"tests/test_sweep.py", "tests/test_sweep.py::rings.one"}
    done = proof(checkout, "affected")
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert "not tried: 1 parts that go through many exercises" in done.stdout


@pytest.mark.slow
def test_what_fails_is_skipped_for_want_of_something_or_reads_what_it_does_not_name_is_not_proven(
    checkout: Path,
) -> None:
    write(checkout / "tests/test_bad.py", "def test_bad(): assert False\n")
    write(checkout / "tests/test_wants.py", "import pytest\ndef test_it(): pytest.skip('there is no Slurm here')\n")
    write(checkout / "tests/test_site.py", "import pytest\ndef test_it(): pytest.skip('needs the extra site')\n")
    write(checkout / "tests/test_gpu.py", "import pytest\ndef test_it(): pytest.skip('needs a GPU')\n")
    reads = (
        "for name in ('const' 'raints' + '.txt', 'READ' + 'ME'): open(__file__.rpartition('/tests')[0] + '/' + name)"
    )
    write(checkout / "tests/test_reads.py", f"def test_it():\n    {reads}\n")
    write(checkout / "README", "")
    done = proof(checkout, "all")
    assert done.returncode == 1
    assert proven(checkout) == ALL | {"tests/test_gpu.py"}
    assert "tests/test_reads.py reads README, and does not name it" in done.stdout
    assert "4 unproven" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("some", [["-k", "fast"], ["-m", "not slow"], ["--deselect", "tests/test_good.py::test_slow"]])
def test_a_run_that_leaves_tests_out_proves_nothing(checkout: Path, some: list[str]) -> None:
    """With -k a part passed with what was left of it, and one with nothing left "had no tests"."""
    done = proof(checkout, "all", *some)
    assert done.returncode == 0, done.stdout + done.stderr
    assert proven(checkout) == set()


@pytest.mark.slow
def test_what_is_next_to_the_change_is_tried_first(checkout: Path) -> None:
    """After a day's work on tests these came first, then the hub, which reads all of the package; and xdist began with
    the largest groups: a fault in the matcher was not found in four minutes."""
    write(checkout / "pkg/lockstep/near.py", "NEAR = 1\n")
    write(checkout / "pkg/lockstep/far.py", "from lockstep.near import NEAR\n")
    write(
        checkout / "tests/test_a_far.py",
        "import pytest\nfrom lockstep.far import NEAR\npytestmark = pytest.mark.xdist_group('together')\n"
        "@pytest.mark.parametrize('row', range(9))\ndef test_it(row): assert NEAR\n",
    )
    write(checkout / "tests/test_b_near.py", "from lockstep.near import NEAR\ndef test_it(): assert NEAR\n")
    write(checkout / "pkg/lockstep/further.py", "from lockstep.far import NEAR\n")
    for n in range(200):
        write(checkout / f"pkg/lockstep/many/m{n}.py", "")
    write(
        checkout / "tests/test_a_all.py",
        "import pytest\npytestmark = pytest.mark.reads('pkg/')\ndef test_it(): ...\n",
    )
    write(checkout / "tests/test_near_itself.py", "from lockstep.further import NEAR\ndef test_it(): assert NEAR\n")
    commit(checkout)
    assert proof(checkout, "all").returncode == 0
    commit(checkout)
    write(checkout / "tests/test_a_far.py", (checkout / "tests/test_a_far.py").read_text() + "# later\n")
    commit(checkout)
    write(checkout / "pkg/lockstep/near.py", "NEAR = 2\n")
    assert proof(checkout, "affected", "-n", "1").returncode == 0
    assert (checkout / "build/proof/noted.jsonl").read_text().split() == [
        '"tests/test_b_near.py"',
        '"tests/test_near_itself.py"',
        '"tests/test_a_far.py"',
        '"tests/test_a_all.py"',
    ]


@pytest.mark.slow
def test_a_module_that_cannot_be_collected_is_not_proven(checkout: Path) -> None:
    write(checkout / "tests/test_broken.py", "import nothing_of_that_name\n")
    done = proof(checkout, "all")
    assert done.returncode != 0
    assert "tests/test_broken.py" not in proven(checkout)


@pytest.mark.slow
def test_in_ci_slow_tests_of_what_is_unproven_run_and_nothing_is_noted(checkout: Path) -> None:
    write(checkout / "tests/proven.json", '{"next": "",\n"modules": {}}')
    done = proof(checkout, "ci", "--within", "100")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert proven(checkout) == set()


@pytest.mark.slow
def test_in_ci_entries_of_the_ledger_are_tried_anew_and_one_that_fails_is_red(checkout: Path) -> None:
    """It had passed on another machine, say."""
    write(
        checkout / "tests/test_here.py", "import os\ndef test_here(): assert os.environ.get('HERE', 'yes') == 'yes'\n"
    )
    assert proof(checkout, "all").returncode == 0
    assert proof(checkout, "ci", "--within", "100").returncode == 0
    os.environ["HERE"] = "no"
    try:
        done = proof(checkout, "ci", "--within", "100")
    finally:
        del os.environ["HERE"]
    assert done.returncode == 1
    assert "what failed, once more" in done.stdout
    assert "0 unproven" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("fails", "code"), [("never", 0), ("once", 0), ("always", 1)])
def test_in_ci_the_end_of_the_time_is_no_failure_and_hides_none(checkout: Path, fails: str, code: int) -> None:
    """What fails has a second try, for which time was spared; it is named all the same."""
    write(
        checkout / "tests/test_long.py",
        "import pathlib, pytest, time\npytestmark = pytest.mark.slow\n"
        "def test_a():\n    tried = pathlib.Path('build/tried')\n    first = not tried.exists()\n    tried.touch()\n"
        f"    assert {fails!r} == 'never' or ({fails!r} == 'once' and not first)\n"
        + "".join(f"def test_{i}(): time.sleep(4)\n" for i in range(40)),
    )
    done = proof(checkout, "ci", "--within", "30", "--spare", "15")
    assert done.returncode == code, done.stdout + done.stderr
    assert ("what failed, once more" in done.stdout) == (fails != "never")
    assert "unproven: " in done.stdout


def test_asked_why_it_shows_the_way(checkout: Path) -> None:
    told = proof(checkout, "why", "tests/test_sweep.py::rings.one", "pkg/lockstep/checks.py").stdout
    assert told.split() == ["tests/test_sweep.py", "→", "pkg/lockstep/checks.py"]
