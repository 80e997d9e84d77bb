"""The same test with other orders, in other worlds, under xdist and torchrun; and what the plugin costs others."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from plugin_under_test import HEAD, PLUGIN, Runner

from lockstep.testing import pytest_plugin

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.reads("pkg/lockstep/testing/")


def test_a_race_fails_a_test(ran: Runner) -> None:
    told = ran(
        """
def swap():
    x, rank = torch.zeros(1), dist.get_rank()
    sending = dist.isend(torch.ones(1), 1 - rank)
    work = dist.irecv(x, 1 - rank)
    seen = x + 0
    for w in (work, sending):
        w.wait()

@on_ranks(ranks=2)
def test_strict():
    swap()

@pytest.mark.filterwarnings("ignore::lockstep.errors.RaceWarning")
@on_ranks(ranks=2, strict=False)
def test_lenient():
    swap()
""",
        passed=1,
        failed=1,
    )
    assert "before the irecv that writes to it (test_it.py, line 11, in swap) has been waited for." in told


FIRST_COME = """
@on_ranks(ranks=3, on="virtual"{})
def test_first():
    if dist.get_rank() == 0:
        x = torch.zeros(1)
        first = dist.recv(x)
        dist.recv(x)
        assert first == 1
    else:
        dist.send(torch.ones(1), 0)
"""


@pytest.mark.parametrize(("ties", "options"), [("", ["--lockstep-ties", "6"]), (", ties=range(6)", [])])
def test_another_order_of_ranks_finds_what_was_luck(pytester: pytest.Pytester, ties: str, options: list[str]) -> None:
    """It took it that rank 1 comes first. Where ranks share cores, that is as likely as not."""
    pytester.makepyfile(test_it=HEAD + FIRST_COME.format(""))
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
    pytester.makepyfile(test_it=HEAD + FIRST_COME.format(ties))
    result = pytester.runpytest_inprocess(*PLUGIN, *options, "-v")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] + outcomes["failed"] == 6
    assert outcomes["passed"] > 0
    assert outcomes["failed"] > 0
    assert "test_first[ranks=3-ties=5]" in result.stdout.str()


def test_the_same_test_on_processes(ran: Runner) -> None:
    """What only a simulation knows is left out, and what needs one is skipped."""
    told = ran(
        """
@on_ranks(ranks=2, on="dgx-a100", rules="nccl", ties=[1, 2], strict=True)
def test_sum():
    x = torch.ones(4)
    dist.all_reduce(x)
    assert os.environ["LOCKSTEP_INSIDE"] == "processes"
    def after(trace):
        assert trace.world == "processes" and trace.bytes_of("all_reduce", rank=1) == 16
    return after

@on_ranks(ranks=2)
def test_fails():
    assert dist.get_rank() == 0
    dist.barrier()

@on_ranks(ranks=2)
def test_time():
    return lambda virtual_time: None

@on_ranks(ranks=2)
def test_hidden():
    return lambda trace: trace.overlapped(rank=0) == 1

@on_ranks(ranks=2, fake=True)
def test_shapes():
    dist.all_reduce(torch.ones(2))
""",
        "--lockstep-on",
        "processes",
        passed=1,
        failed=1,
        skipped=3,
    )
    assert "E       assert 1 == 0" in told
    assert "rank 1 failed, and the other ranks were ended" in told
    assert "rank 0 waits in barrier" in told


def test_too_many_ranks_for_processes_are_skipped(ran: Runner) -> None:
    told = ran("@on_ranks(ranks=4000)\ndef test_it():\n    pass\n", "--lockstep-on", "processes", "-rs", skipped=1)
    assert "4,000 ranks are more than makes sense here" in told


@pytest.mark.slow
def test_under_torchrun(pytester: pytest.Pytester) -> None:
    """Each process is a rank and a pytest: all of them fail where one does, and go on to the next test."""
    pytester.makepyfile(
        test_it=HEAD
        + """
@on_ranks(ranks=[2, 3])
def test_sum():
    x = torch.ones(1)
    dist.all_reduce(x)
    assert x.item() == 2
    return lambda trace: trace.number_of("all_reduce") == 2

@on_ranks(ranks=2)
def test_fails():
    assert dist.get_rank() == 0
"""
    )
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "pytest"]
    result = pytester.run(*torchrun, *PLUGIN, "-p", "no:xdist", "--lockstep-on", "spmd", "-rs")
    told = result.stdout.str()
    assert told.count("1 failed, 1 passed, 1 skipped") == 2
    assert told.count("torchrun has started 2 ranks") == 2
    assert "E       assert 1 == 0" in told
    assert "rank 0 has finished" in told


@pytest.mark.slow
def test_xdist(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it=HEAD
        + """
@on_ranks(ranks=[1, 2, 3])
def test_small():
    dist.barrier()
    found = dist.get_world_size()
    assert found != 3
"""
    )
    result = pytester.runpytest_subprocess(*PLUGIN, "-n2")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*assert found != 3*", "*failed, and the other ranks were ended*", "FAILED *ranks=3*rank 0*"]
    )


def test_importlib_mode_and_subfolders(pytester: pytest.Pytester) -> None:
    """No rank could import such a test's module, nor its conftest: both travel with the test."""
    pytester.mkdir("unit")
    (pytester.path / "unit" / "conftest.py").write_text(
        "import pytest\nclass Made:\n    n = 3\n@pytest.fixture\ndef made():\n    return Made()\n"
    )
    (pytester.path / "unit" / "test_it.py").write_text(
        HEAD + "@on_ranks(ranks=2)\ndef test_made(made):\n    assert made.n == 3\n"
    )
    pytester.runpytest_inprocess(*PLUGIN, "--import-mode=importlib").assert_outcomes(passed=1)


def test_no_torch_until_a_marked_test_runs(pytester: pytest.Pytester) -> None:
    """The plugin is loaded by every pytest of an environment: it may cost those nothing that have no such test."""
    pytester.makepyfile(test_it="def test_it():\n    import sys\n    assert 'torch' not in sys.modules\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *PLUGIN]
    told = subprocess.run(command, capture_output=True, text=True, cwd=pytester.path, timeout=120)
    assert "1 passed" in told.stdout, told.stdout + told.stderr
    listed = "import sys, lockstep.testing.pytest_plugin, lockstep.testing; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", listed], check=True, timeout=60)


def test_the_wheel_tells_pytest_of_it() -> None:
    """Its entry point names the module that these tests load by hand."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"lockstep": pytest_plugin.__name__}
