"""A random rank is harmed at a random call of a random program, in every world: the run must end, with the right
values or with an error that names that rank; and the very next run must be right.

Everything follows from the seed, which is in the test's name: ``pytest "tests/chaos/test_chaos.py::test_virtual[17]"``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from chaos_cases import Case, expectation, judge, outcome, undisturbed
from chaos_harms import HARMS
from chaos_stopwatch import Stopwatch

from lockstep import errors

HERE = Path(__file__).parent
LIMIT = 120  # seconds: a hang fails


def more(few: int, many: int) -> list[object]:
    """The first seeds for `make test`, all for `make test-all`."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))]


def test_a_seed_always_gives_the_same_case() -> None:
    assert str(Case.draw(5, (2, 3))) == str(Case.draw(5, (2, 3)))
    assert len({str(Case.draw(s, (2, 3))) for s in range(100)}) == 100
    assert {Case.draw(s, (2, 3)).harm.kind for s in range(8)} == set(HARMS)


@pytest.mark.sampled(16)
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("seed", more(16, 140))
def test_processes(seed: int, stopwatch: Stopwatch) -> None:
    case = stopwatch.start(Case.draw(seed, (2, 3, 4)))
    judge(case, stopwatch.stop(outcome(case, "processes"), "processes"))
    undisturbed(case, "processes")


@pytest.mark.sampled(15)
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("seed", more(24, 200))
def test_virtual(seed: int, stopwatch: Stopwatch) -> None:
    case = stopwatch.start(Case.draw(seed, (2, 3, 5, 8, 12), apart=False))
    judge(case, stopwatch.stop(outcome(case, "dgx-a100"), "virtual"))
    undisturbed(case, "dgx-a100")


# ---- under torchrun: what a rank survives, one after the other in the same processes; what it does not, once each


def torchrun(directory: Path, ranks: int, *seeds: int) -> subprocess.CompletedProcess[str]:
    """Ended with all its ranks when it takes too long."""
    script = str(HERE / "chaos_under_torchrun.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), script]
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "LOCAL_RANK")}
    path = os.pathsep.join([str(HERE), str(HERE.parents[1] / "pkg")])
    started = subprocess.Popen(
        [*command, str(directory), *map(str, seeds)],
        env={**clean, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        out, _ = started.communicate(timeout=LIMIT - 20)
    except subprocess.TimeoutExpired:
        for process in [*psutil.Process(started.pid).children(recursive=True), started]:
            process.kill()
        raise
    return subprocess.CompletedProcess(command, started.returncode, out)


@pytest.mark.slow
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("seeds", [range(s, s + 6) for s in (0, 6, 12)])
def test_spmd_goes_on(seeds: range, tmp_path: Path) -> None:
    """The script judges each outcome on each rank, and runs the same program undisturbed after it."""
    done = torchrun(tmp_path, 3, *seeds)
    assert done.returncode == 0, done.stdout[-4000:]
    for rank in range(3):
        assert json.loads((tmp_path / f"rank-{rank}.json").read_text()) == list(seeds)


@pytest.mark.slow
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize("seed", more(1, 12))
def test_spmd_ends(seed: int, tmp_path: Path) -> None:
    """A rank that is killed or stopped: every other one tells of it, and the launcher ends."""
    seed += 1000
    done = torchrun(tmp_path, 3, seed)
    case = Case.draw(seed, (3,), kinds=FATAL)
    assert done.returncode != 0
    told = [json.loads(p.read_text()) for p in sorted(tmp_path.glob("error-*.json"))]
    assert told, f"{case}\n{done.stdout[-4000:]}"
    kind, sentence = expectation(case.harm)
    for name, message in told:
        assert issubclass(getattr(errors, name), kind), f"{case}\n{name}: {message}"
        assert sentence in message, f"{case}\n{name}: {message}"


FATAL = ("kill", "stop", "leave")
