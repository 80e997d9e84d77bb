"""What a test asks when its ranks have ended: bytes, time, memory, overlap; and a block without collectives."""

from __future__ import annotations

import pytest
from plugin_under_test import Runner

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.reads("pkg/lockstep/testing/")


def test_a_test_returns_what_is_to_hold_afterwards(ran: Runner) -> None:
    """The function that each rank returns is called outside, with what that rank had."""
    ran(
        """
@on_ranks(ranks=[2, 4], on="dgx-a100")
def test_ring(tmp_path):
    rank, size, x, got = dist.get_rank(), dist.get_world_size(), torch.ones(8), torch.empty(8)
    sending = dist.isend(x, (rank + 1) % size)
    dist.recv(got, (rank - 1) % size)
    sending.wait()
    dist.all_reduce(x)
    def after(trace, virtual_time, peak_memory):
        assert not dist.is_initialized()
        assert trace.sent_bytes(rank) == trace.received_bytes(rank) == x.nbytes
        assert trace.sent_bytes() == size * x.nbytes
        assert trace.bytes_of("all_reduce", rank=rank) == x.nbytes
        assert trace.number_of("all_reduce") == size and trace.number_of(rank=rank) == 3
        assert 0 < virtual_time < 1e-3 and peak_memory[rank] >= 2 * x.nbytes
        (tmp_path / str(rank)).touch()
        assert len(list(tmp_path.iterdir())) == rank + 1
    return after
""",
        passed=2,
    )


def test_a_failure_afterwards_is_the_tests(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=2)
def test_sends():
    dist.all_reduce(torch.ones(4))
    def after(trace):
        assert trace.bytes_of("all_reduce", rank=0) <= 8
    return after
""",
        failed=1,
    )
    assert "assert 16 <= 8" in told
    assert "bytes_of = Trace(2 operations of 2 ranks on dgx-a100).bytes_of" in told


def test_the_trace_is_no_argument_of_the_test(ran: Runner) -> None:
    told = ran("@on_ranks(ranks=2)\ndef test_it(trace):\n    pass\n", errors=1)
    assert "trace is known when the ranks have ended. Let the test return a function that takes it" in told


@pytest.mark.parametrize(("early", "least", "most"), [(True, 0.9, 1.0), (False, 0.0, 0.0)])
def test_overlap(ran: Runner, early: bool, least: float, most: float) -> None:
    wait = "work.wait()"
    ran(
        f"""
@on_ranks(ranks=2, on="dgx-a100")
def test_hidden():
    gradient, a = torch.ones(1000), torch.ones(3000, 3000)
    work = dist.all_reduce(gradient, async_op=True)
    {"" if early else wait}
    a @ a
    {wait if early else ""}
    def after(trace):
        assert {least} <= trace.overlapped("all_reduce", rank=0) <= {most}
    return after
""",
        passed=1,
    )


@pytest.mark.parametrize("world", ["virtual", "processes"])
def test_no_collective_inside_no_sync(ran: Runner, world: str) -> None:
    told = ran(
        """
from contextlib import nullcontext

@pytest.mark.parametrize("quiet", [True, False])
@on_ranks(ranks=2)
def test_accumulates(quiet):
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
    x = torch.ones(2, 3)
    with no_collectives(), model.no_sync() if quiet else nullcontext():
        model(x).sum().backward()
    model(x).sum().backward()
""",
        "--lockstep-on",
        world,
        passed=1,
        failed=1,
    )
    assert "a collective inside no_collectives(): all_reduce on ranks 0, 1 at test_it.py, line 16" in told


def test_what_is_no_operation_is_told(ran: Runner) -> None:
    told = ran(
        """
@on_ranks(ranks=2)
def test_kinds():
    dist.barrier()
    return lambda trace: trace.number_of("allreduce")
""",
        failed=1,
    )
    assert "There is no operation 'allreduce' in a trace." in told
