"""How a test on ranks fails: as its rank, told with what the others did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plugin_under_test import HEAD, LOAD, PLUGIN, Runner

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.reads("pkg/lockstep/testing/")


def test_an_assert_of_one_rank_explains_itself(ran: Runner) -> None:
    """The report is that rank's, as pytest makes it; the others were ended in a wait, and are told with their lines."""
    told = ran(
        """
@on_ranks(ranks=3)
def test_fails():
    found = {"rank": dist.get_rank(), "same": 1}
    if dist.get_rank() == 2:
        assert found == {"rank": 0, "same": 1}
    dist.barrier()
""",
        failed=1,
    )
    lines = told.splitlines()
    assert '>           assert found == {"rank": 0, "same": 1}' in lines
    assert "E           AssertionError: assert {'rank': 2, 'same': 1} == {'rank': 0, 'same': 1}" in lines
    assert "E             {'rank': 2} != {'rank': 0}" in lines
    assert any("-- rank 2 failed, and the other ranks were ended --" in line for line in lines)
    for rank in (0, 1):
        assert f"rank {rank} waits in barrier on ranks 0, 1, 2 at test_it.py, line 13, in test_fails: dist.barrier()" in told  # noqa: E501  # fmt: skip
    assert "FAILED test_it.py::test_fails[ranks=3] - rank 2: " in told
    assert "on_rank.py" not in told
    assert "worlds.py" not in told


def test_an_assert_in_a_helper_module(ran: Runner, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(helper="def check(x):\n    raise ValueError(f'bad {x}')\n")
    told = ran(
        """
from helper import check

@on_ranks(ranks=2)
def test_fails():
    check(dist.get_rank())
""",
        failed=1,
    )
    assert "    check(dist.get_rank())" in told
    assert "helper.py:2: ValueError" in told


def test_a_deadlock_is_told_as_everywhere(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=2)
def test_waits():
    dist.recv(torch.ones(1), 1 - dist.get_rank())
""",
        failed=1,
    )
    assert "Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0." in told
    assert "rank 1 waits in recv(src=0) at test_it.py, line 10, in test_waits" in told
    assert "worlds.py" not in told


def test_a_failed_run_as_a_flight_recorder_has_it(ran: Runner, pytester: pytest.Pytester) -> None:
    told = ran(
        """
@on_ranks(ranks=2)
def test_waits():
    dist.recv(torch.ones(1), 1 - dist.get_rank())
""",
        "--lockstep-dumps",
        "dumps",
        failed=1,
    )
    kept = Path("dumps") / "test_it.py-test_waits-ranks=2"
    assert f"python -m torch.distributed.flight_recorder.fr_trace {kept}" in told
    assert sorted(f.name for f in (pytester.path / kept).iterdir()) == ["rank_0", "rank_1"]


def test_skip_and_xfail_are_what_they_are(ran: Runner) -> None:
    ran(
        """
@on_ranks(ranks=2)
def test_skips():
    if dist.get_rank() == 1:
        pytest.skip("not here")
    dist.barrier()

class Mine(Exception):
    pass

@pytest.mark.xfail(raises=Mine, strict=True)
@on_ranks(ranks=2)
def test_raises():
    raise Mine("known")

@pytest.mark.xfail(raises=ValueError)
@on_ranks(ranks=2)
def test_raises_another():
    raise Mine("unknown")
""",
        skipped=1,
        xfailed=1,
        failed=1,
    )


def test_x_stops_and_lf_begins_there(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it=HEAD
        + """
@on_ranks(ranks=[1, 2, 3])
def test_small():
    assert dist.get_world_size() != 2
"""
    )
    pytester.runpytest_inprocess(*LOAD, "-x").assert_outcomes(passed=1, failed=1)
    again = pytester.runpytest_inprocess(*LOAD, "--lf", "-v")
    again.assert_outcomes(failed=1)
    assert "test_small[ranks=2] FAILED" in again.stdout.str()


def test_no_debugger(ran: Runner, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=HEAD + "@on_ranks(ranks=2)\ndef test_it():\n    pass\n")
    refused = pytester.runpytest_inprocess(*PLUGIN, "--pdb")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*--pdb: a rank has no terminal for a debugger.*"])
    told = ran("@on_ranks(ranks=2)\ndef test_it():\n    breakpoint()\n", failed=1)
    assert "A rank has no terminal for a debugger." in told
    ran("def test_here():\n    pass\n", "--pdb", passed=1)


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("on_ranks()", "ranks are whole numbers from 1 on, and the mark names none."),
        ("on_ranks(ranks=[2, 0])", "ranks are whole numbers from 1 on, not 0."),
        ("on_ranks(ranks=2, speed=3)", "The mark lockstep has no 'speed'."),
        ("on_ranks(ranks=2, ties=[-1])", "ties are whole numbers from 0 on, not -1."),
    ],
)
def test_an_invalid_mark_is_told_at_once(ran: Runner, mark: str, told: str) -> None:
    assert told in ran(f"@{mark}\ndef test_it():\n    pass\n", errors=1)


def test_what_cannot_run_on_ranks_says_so(ran: Runner) -> None:
    told = ran(
        """
import threading, unittest

@on_ranks(ranks=2)
class TestOld(unittest.TestCase):
    def test_it(self):
        pass

@pytest.fixture
def lock():
    return threading.Lock()

@on_ranks(ranks=2)
def test_lock(lock):
    pass

@on_ranks(ranks=2)
def test_descriptors(capfd):
    pass

@on_ranks(ranks=2, on="dgx-a")
def test_world():
    pass

@on_ranks(ranks=2)
def test_number():
    return 3
""",
        failed=4,
        errors=1,
    )
    assert "the mark lockstep is for test functions and methods of plain classes." in told
    assert "The fixture lock cannot be copied to the ranks" in told
    assert "capfd listens to this process, and ranks are others." in told
    assert "There is no world 'dgx-a'. Did you mean" in told
    assert "The test returned a int on rank 0." in told


def test_each_example_of_hypothesis_is_a_run(ran: Runner) -> None:
    """Drawn on ranks, examples could differ between them."""
    told = ran(
        """
from hypothesis import given, settings, strategies

@on_ranks(ranks=2)
@settings(deadline=None, max_examples=8, derandomize=True, database=None)
@given(n=strategies.integers(1, 9))
def test_small(n):
    x = torch.ones(n)
    dist.all_reduce(x)
    assert n < 4
    def after(trace):
        assert trace.bytes_of("all_reduce", rank=0) == x.nbytes
    return after
""",
        failed=1,
    )
    assert "assert 4 < 4" in told
    assert re.search(r"test_small\(\s*n=4,", told)
    assert "the other ranks were ended" in told


LATE = """
def take(late):
    got = torch.zeros(2)
    work = dist.irecv(got, 0)
    if not late:
        work.wait()
    return got, work

def give(late):
    if late:
        dist.recv(torch.zeros(1), 1)  # which rank 1 never sends: so what it compares has not arrived, in any world
    dist.isend(torch.ones(2), 1).wait()

@on_ranks(ranks=2)
def test_values():
    if dist.get_rank() == 0:
        give(LATE)
    else:
        got, work = take(LATE)
        assert got.tolist() == [1.0, WANTED]
"""


@pytest.mark.parametrize("world", ["virtual", "processes"])
def test_a_value_that_had_not_arrived(ran: Runner, world: str) -> None:
    """The assert fails on NaN, or on what was there before: the report names the irecv, which tolist() hid."""
    told = ran(LATE.replace("WANTED", "1.0").replace("LATE", "True"), "--lockstep-on", world, failed=1)
    (line,) = [line for line in told.splitlines() if line.startswith("When it failed")]
    assert line == "When it failed, rank 1 had not waited for its irecv from rank 0 (test_it.py, line 10, in take)."
    assert ("assert [nan, nan] == [1.0, 1.0]" in told) == (world == "virtual")


def test_a_value_that_had_arrived_and_is_wrong(ran: Runner) -> None:
    told = ran(LATE.replace("WANTED", "2.0").replace("LATE", "False"), failed=1)
    assert "assert [1.0, 1.0] == [1.0, 2.0]" in told
    assert "When it failed" not in told


def test_a_late_collective_and_more(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=2)
def test_values():
    x, y = torch.zeros(2), torch.zeros(2)
    works = [dist.all_reduce(t, async_op=True) for t in (x, y)]
    assert x.tolist() == [2.0, 2.0]
    [work.wait() for work in works]
""",
        failed=1,
    )
    assert "had not waited for its all_reduce with async_op=True (test_it.py, line 11, in " in told
    assert ", nor for 1 more." in told


def test_another_error_beside_work_in_flight(ran: Runner) -> None:
    """A program that overlaps has always something in flight."""
    told = ran(
        """
@on_ranks(ranks=2)
def test_values():
    work = dist.all_reduce(torch.ones(1), async_op=True)
    raise KeyError("epoch")
""",
        failed=1,
    )
    assert "When it failed" not in told


def test_the_rank_whose_returned_function_failed(ran: Runner) -> None:
    """Each rank's is called outside, and only that of rank 2 fails."""
    told = ran(
        """
@on_ranks(ranks=3)
def test_after():
    rank = dist.get_rank()

    def after(trace):
        assert rank < 2

    return after
""",
        failed=1,
    )
    assert "FAILED test_it.py::test_after[ranks=3] - rank 2: assert 2 < 2" in told
    assert "rank 2 returned this function" in told


def test_what_a_rank_returned_that_is_no_function(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=3)
def test_after():
    return dist.get_rank() if dist.get_rank() == 1 else None
""",
        failed=1,
    )
    assert "The test returned a int on rank 1." in told
