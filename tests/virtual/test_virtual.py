"""The virtual cluster as a learner meets it: values, virtual time, and what it says when something is wrong."""

from __future__ import annotations

import os
import random
import time

import numpy as np
import pytest
import torch
import torch.distributed as dist

from lockstep import machines, run
from lockstep.errors import Deadlock, Mismatch, RankDied, RankRaised, Stuck, TimeLimit, Unmatched
from lockstep.launch.job import Job
from lockstep.machines import Cluster, Device, Link
from lockstep.virtual import run_virtual

PLAIN = Device("plain", {"float32": 1e9}, memory_bandwidth=1e9, memory=10**9, launch_overhead=0.0)
WIRE = Link(alpha=1e-3, beta=1e-6)  # 1 ms and 1 µs a byte: times that can be worked out by hand. (Filling 1,000 bytes
# of memory takes 1 µs more: hence the tolerance.)
CLUSTER = Cluster("by hand", PLAIN, 8, WIRE, WIRE)


def virtual(fn, *args, ranks, **options):
    return run(fn, *args, ranks=ranks, on=CLUSTER, **options)


# ---- time


def test_a_message_takes_alpha_plus_n_beta():
    def fn():
        x = torch.zeros(250)  # 1,000 bytes
        if dist.get_rank() == 0:
            dist.send(x, 1)
        else:
            dist.recv(x, 0)
        return time.perf_counter()

    result = virtual(fn, ranks=2)
    assert result.values == pytest.approx([2e-3, 2e-3], abs=5e-6)
    assert result.time == pytest.approx(2e-3, abs=5e-6)


def test_a_port_takes_one_message_at_a_time():
    """Three workers send to a master at once: its way in is the bottleneck."""

    def fn():
        x = torch.zeros(250)
        if dist.get_rank() == 0:
            for _ in range(3):
                dist.recv(x)
        else:
            dist.send(x, 0)

    assert virtual(fn, ranks=4).time == pytest.approx(3 * 2e-3, abs=5e-6)


def test_disjoint_pairs_talk_at_the_same_time():
    def fn():
        x, peer = torch.zeros(250), dist.get_rank() ^ 1
        (dist.send if dist.get_rank() < peer else dist.recv)(x, peer)

    assert virtual(fn, ranks=8).time == pytest.approx(2e-3, abs=5e-6)


def test_both_directions_of_a_link_work_at_once():
    def fn():
        x, y, peer = torch.zeros(250), torch.zeros(250), dist.get_rank() ^ 1
        work = dist.isend(x, peer)
        dist.recv(y, peer)
        work.wait()

    assert virtual(fn, ranks=2).time == pytest.approx(2e-3, abs=5e-6)


def test_communication_runs_beside_computation():
    def fn():
        x = torch.ones(1000)  # 4,000 bytes: 5 ms on the wire; adding 1 moves 8,000 bytes: 8 µs
        work = dist.all_reduce(x, async_op=True)
        y = torch.ones(500_000)
        for _ in range(3):
            y = y + 1
        before = time.perf_counter()
        work.wait()
        return before, time.perf_counter()

    result = virtual(fn, ranks=2)
    before, after = result.values[0]
    reduce = result.trace.of_kind("all_reduce")[0]
    assert 0 < before == after > reduce.end, "the transfer was over when the computation was"
    assert reduce.wait == 0


def test_computing_takes_the_roofline_time_of_the_device():
    def fn():
        a = torch.ones(100, 100)
        before = time.perf_counter()
        a @ a
        return time.perf_counter() - before

    assert virtual(fn, ranks=1).values == pytest.approx([2 * 100**3 / 1e9])


def test_sleeping_passes_virtual_time_only():
    host = time.monotonic()
    result = virtual(lambda: time.sleep(1000), ranks=2)
    assert result.time == 1000
    assert time.monotonic() - host < 100


def test_a_send_waits_for_its_receiver_unless_it_is_eager():
    def fn():
        x, left, right = torch.ones(2), (dist.get_rank() - 1) % 3, (dist.get_rank() + 1) % 3
        dist.send(x, right)
        y = torch.zeros(2)
        dist.recv(y, left)
        return y.sum().item()

    with pytest.raises(Deadlock):
        virtual(fn, ranks=3)
    assert virtual(fn, ranks=3, rules="mpi").values == [2, 2, 2]


def test_every_run_gives_the_same_trace():
    def fn():
        rank, total = dist.get_rank(), torch.zeros(1)
        if rank == 0:
            return [dist.recv(total) for _ in range(6)]
        time.sleep(random.random())
        dist.send(torch.ones(1), 0)
        dist.send(torch.ones(1), 0)
        return None

    runs = [virtual(fn, ranks=4) for _ in range(3)]
    assert runs[0].trace == runs[1].trace == runs[2].trace
    assert runs[0].values == runs[1].values == runs[2].values
    arrivals = [e.end for e in runs[0].trace.of_rank(0)]
    assert arrivals == sorted(arrivals)


def test_a_message_posted_ahead_of_time_does_not_overtake_an_earlier_one():
    """A rank that posts goes on at once. Rank 1 acts before rank 2 does, at a time that is later."""

    def fn():
        rank, x = dist.get_rank(), torch.zeros(250)
        if rank == 0:
            return [dist.recv(x), dist.recv(x)]
        if rank == 1:
            torch.zeros(250_000)  # 1 ms
        dist.isend(x, 0).wait()
        return time.perf_counter()

    result = virtual(fn, ranks=3)
    assert result.values[0] == [2, 1]
    assert result.values[1:] == pytest.approx([4e-3, 2e-3], abs=1e-5)


def test_polling_long_for_a_message_that_is_still_to_take_effect_is_no_deadlock():
    """Rank 0 waits for a send that it has posted ahead of time. It was counted among those who wait for the others."""

    def fn():
        rank, others = dist.get_rank(), range(1, dist.get_world_size())
        if rank == 0:
            time.sleep(1e-3)
            for other in others:
                dist.send(torch.ones(other), other)
            return 0
        work, polls = dist.irecv(torch.zeros(rank), 0), 0
        while not work.is_completed():
            polls += 1
        return polls

    assert max(run(fn, ranks=5, on="dgx-a100").values) > 1000


# ---- what belongs to a rank


def test_ranks_have_their_own_random_numbers_environment_and_dtype():
    def fn():
        rank = dist.get_rank()
        torch.set_default_dtype(torch.float64 if rank else torch.float32)
        mine = []
        for _ in range(3):
            mine.append((random.random(), np.random.rand(), torch.rand(1, dtype=torch.float32).item()))
            dist.barrier()
        return os.environ["RANK"], os.getenv("LOCAL_RANK"), os.environ["WORLD_SIZE"], mine, str(torch.ones(1).dtype)

    values = virtual(fn, ranks=3, seed=5).values
    for rank, (name, local, size, mine, dtype) in enumerate(values):
        assert (name, local, size) == (str(rank), str(rank), "3")
        assert dtype == ("torch.float64" if rank else "torch.float32")
        generator, numbers = torch.Generator().manual_seed(5 + rank), np.random.RandomState(5 + rank)
        r = random.Random(5 + rank)
        assert mine == [(r.random(), numbers.rand(), torch.rand(1, generator=generator).item()) for _ in range(3)]


def test_ranks_share_nothing_and_the_callers_objects_never_change():
    x, seen = torch.zeros(3), []

    def fn(y):
        y += dist.get_rank()
        seen.append(dist.get_rank())
        return y.tolist(), seen

    assert virtual(fn, x, ranks=2).values == [([0, 0, 0], [0]), ([1, 1, 1], [1])]
    assert x.tolist() == [0, 0, 0]
    assert seen == []


def test_peak_memory_counts_storages_once():
    def fn(x):
        y = torch.ones(1000)
        views = [y.view(10, 100), y[5:], x.t()]
        z = y + 1
        return len(views), z[0].item()

    assert virtual(fn, torch.ones(10, 10), ranks=2).peak_memory == [8400, 8400]


def test_prints_are_tagged_and_limited(capsys):
    def fn():
        print("hello")
        if dist.get_rank() == 1:
            for _ in range(10_000):
                print("x" * 10_000)
        return "done"

    result = virtual(fn, ranks=2)
    out = capsys.readouterr().out
    assert result.values == ["done", "done"]
    assert "[rank 0] hello\n" in out
    assert "[rank 1] hello\n" in out
    assert len(out) < 40_000
    assert "left out" in out
    assert result.printed == out


# ---- what goes wrong


def explained(fn, ranks, error, **options):
    with pytest.raises(error) as caught:
        virtual(fn, ranks=ranks, **options)
    return caught.value


def test_a_circle_of_receives_is_told_as_one():
    def fn():
        dist.recv(torch.zeros(1), (dist.get_rank() + 1) % 3)

    error = explained(fn, 3, Deadlock)
    assert "rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank 0" in str(error)
    assert [s.operation for s in error.states] == ["recv(src=1)", "recv(src=2)", "recv(src=0)"]
    assert all("dist.recv(torch.zeros(1)" in s.source for s in error.states)
    assert all(s.where.startswith("test_virtual.py, line ") for s in error.states)
    assert len(error.trace.of_kind("recv")) == 3


def test_a_rank_that_left_is_named():
    def fn():
        if dist.get_rank() != 3:
            dist.barrier()

    error = explained(fn, 4, Deadlock)
    assert "ranks 0, 1 and 2 wait for rank 3, whose function has already returned" in str(error)
    assert str(error.states[3]) == "rank 3 has finished"


def test_polling_for_what_cannot_come_is_a_deadlock_too():
    def fn():
        work = dist.irecv(torch.zeros(1), (dist.get_rank() + 1) % 3)
        while not work.is_completed():
            pass

    error = explained(fn, 3, Deadlock)
    assert [s.operation for s in error.states] == ["recv(src=1)", "recv(src=2)", "recv(src=0)"]


def test_polling_for_what_comes_late_ends():
    def fn():
        if dist.get_rank() == 0:
            time.sleep(5)
            dist.send(torch.ones(1), 1)
            return 0
        work, polls = dist.irecv(torch.zeros(1), 0), 0
        while not work.is_completed():
            polls += 1
        return polls

    result = virtual(fn, ranks=2)
    assert 0 < result.values[1] < 1000
    assert result.time == pytest.approx(5 + 1e-3 + 4e-6)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (lambda x: dist.all_reduce(x), lambda x: dist.broadcast(x, 0), "different collectives"),
        (lambda x: dist.all_reduce(x), lambda x: dist.all_reduce(x[:2]), "all_reduce with arguments that do not fit"),
        (lambda x: dist.all_reduce(x), lambda x: dist.all_reduce(x.double()), "do not fit"),
        (lambda x: dist.broadcast(x, 0), lambda x: dist.broadcast(x, 1), "broadcast with arguments"),
        (lambda x: dist.all_reduce(x, dist.ReduceOp.MAX), lambda x: dist.all_reduce(x), "do not fit"),
        (
            lambda x: dist.send(x, 1),
            lambda x: dist.recv(x[:2], 0),
            "sends 3 elements of float32, rank 1 has room for 2",
        ),
        (lambda x: dist.send(x, 1), lambda x: dist.recv(x.long(), 0), "has room for 3 elements of int64"),
    ],
)
def test_operations_that_do_not_fit_are_named(one, other, told):
    def fn():
        (other if dist.get_rank() else one)(torch.ones(3))

    error = explained(fn, 2, Mismatch)
    assert told in str(error)
    assert [s.rank for s in error.states] == [0, 1]
    assert all("test_virtual.py" in s.where for s in error.states)


@pytest.mark.parametrize("on", [CLUSTER, "processes"])
def test_a_tensor_that_is_not_contiguous_is_refused_by_send_and_recv(on):
    """The virtual cluster took it, gloo does not: a reference passed on the one and failed on the other."""

    def sends():
        (dist.recv if dist.get_rank() else dist.send)(torch.ones(4, 3).t(), 1 - dist.get_rank())

    with pytest.raises(RankRaised, match="contiguous"):
        run(sends, ranks=2, on=on)


def test_uneven_all_to_all_that_does_not_fit_is_named():
    def fn():
        sizes = [1, 3] if dist.get_rank() else [2, 2]
        dist.all_to_all_single(torch.zeros(4), torch.ones(4), [2, 2], sizes)

    assert "rank 1 has 1 elements" in str(explained(fn, 2, Mismatch))


def test_messages_that_nobody_takes_are_an_error():
    def sends():
        if dist.get_rank() == 0:
            dist.isend(torch.ones(2), 1)

    def receives():
        if dist.get_rank() == 1:
            dist.irecv(torch.ones(2), 0)

    assert "rank 0 sent a message that nobody received" in str(explained(sends, 2, Unmatched))
    assert "rank 1 posted a receive that nobody served" in str(explained(receives, 2, Unmatched))


@pytest.mark.parametrize("on", [CLUSTER, "processes"])
def test_a_collective_that_only_some_have_started_is_an_error(on):
    def fn():
        if dist.get_rank() == 1:
            dist.all_reduce(torch.ones(1), async_op=True)

    with pytest.raises(Unmatched, match="rank 1 called all_reduce, which other ranks never joined"):
        run(fn, ranks=2, on=on)


def test_a_learners_exception_comes_with_the_learners_lines_only():
    def inner():
        raise ValueError("bad shape")

    def fn():
        if dist.get_rank() == 2:
            inner()
        dist.barrier()

    error = explained(fn, 4, RankRaised)
    text = str(error)
    assert text.startswith("rank 2 raised ValueError: bad shape")
    assert 'raise ValueError("bad shape")' in text
    assert "/lockstep/" not in text
    assert "/torch/" not in text
    assert error.states[0].rank == 2


def test_a_rank_whose_operation_is_over_does_not_wait():
    """All raise in the same line; the first one ends the run. Of the others it was told that they wait in the barrier,
    which all had passed."""

    def fn():
        dist.barrier()
        raise ValueError("everybody")

    error = explained(fn, 3, RankRaised)
    assert [s.state for s in error.states] == ["raised", "computing", "computing"]
    assert "rank 1 has done barrier on ranks 0, 1, 2 at test_virtual.py" in str(error)


def test_deep_recursion_is_told_in_a_few_lines():
    def fn(n):
        return fn(n + 1)

    error = explained(lambda: fn(0), 1, RankRaised)
    assert "RecursionError" in str(error)
    assert str(error).count("\n") < 30


def test_sys_exit_is_an_exception_like_any_other():
    import sys

    error = explained(lambda: dist.get_rank() and sys.exit("bye"), 2, RankRaised)
    assert str(error).startswith("rank 1 raised SystemExit: bye")


def test_ranks_that_leave_are_named():
    import signal

    assert "rank 1 ended with exit status 3" in str(explained(lambda: dist.get_rank() and os._exit(3), 2, RankDied))
    killed = explained(lambda: dist.get_rank() and os.kill(os.getpid(), signal.SIGKILL), 2, RankDied)
    assert "rank 1 was killed by SIGKILL: by " in str(killed)


def test_a_rank_that_stops_the_process_may_have_done_so_itself():
    """ "Something outside of the program has stopped it." """
    import signal

    error = explained(lambda: dist.get_rank() and os.kill(os.getpid(), signal.SIGSTOP), 2, Stuck)
    assert error.message == "Stuck: rank 1 is stopped. Its process got a SIGSTOP."
    assert error.remedy.startswith("Was it a line of the program, such as os.kill?")


def test_a_rank_that_opens_all_files_is_no_fault_of_the_cluster():
    """The supervisor reads /proc/stat now and then: "The virtual cluster has failed: OSError: Too many open files.
    Restart the kernel." """
    import itertools

    def opens_all():
        opened = []
        try:
            for _ in itertools.count():
                opened.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
        for _ in range(20_000_000):  # longer than the supervisor is away
            pass
        return len(opened) > 100

    assert run_virtual(Job.pack(opens_all, (), {}, 1), CLUSTER).values == [True]


@pytest.mark.slow
def test_an_endless_loop_is_stopped_and_named():
    def fn():
        while dist.get_rank() == 1:
            pass
        dist.barrier()

    with pytest.raises(Stuck) as caught:
        run_virtual(Job.pack(fn, (), {}, 3), CLUSTER, patience=0.5)
    assert "rank 1 has done no operation" in str(caught.value)
    rank_state = caught.value.states[1]
    assert "while dist.get_rank() == 1" in rank_state.source or rank_state.source == "pass"
    assert "rank 1 has done no operation" in str(explained(fn, 3, Stuck, timeout=0.5))


def test_endless_communication_runs_out_of_time():
    def fn():
        while True:
            dist.barrier()

    assert "did not end within" in str(explained(fn, 2, TimeLimit, timeout=0.5))


@pytest.mark.slow
def test_a_loop_in_c_that_holds_the_interpreter_is_stopped_too(monkeypatch):
    from lockstep.virtual import cluster_process

    monkeypatch.setattr(cluster_process, "GRACE", 0.5)
    with pytest.raises(Stuck) as caught:
        run_virtual(Job.pack(lambda: 10 ** (10**9), (), {}, 1, timeout=0.2), CLUSTER, patience=0.2)
    assert "10 ** (10**9)" in str(caught.value)


def test_a_value_that_cannot_travel_is_told():
    import threading

    error = explained(lambda: threading.Lock(), 1, RankRaised)
    assert "cannot be sent back" in str(error)


def test_after_every_failure_the_next_run_works():
    explained(lambda: dist.recv(torch.zeros(1), 1 - dist.get_rank()), 2, Deadlock)
    assert virtual(lambda: dist.get_rank(), ranks=2).values == [0, 1]


# ---- torch's own wrappers, unchanged


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def test_distributed_data_parallel_runs_unchanged():
    def fn():
        from torch.nn.parallel import DistributedDataParallel

        x = torch.arange(32.0).reshape(4, 8) / 32
        wrapped = DistributedDataParallel(model())
        wrapped(x[dist.get_rank() :: 2]).sum().backward()
        return wrapped.module[0].weight.grad

    x = torch.arange(32.0).reshape(4, 8) / 32
    serial = model()
    serial(x).sum().backward()
    for gradient in run(fn, ranks=2, on="dgx-a100").values:
        torch.testing.assert_close(2 * gradient, serial[0].weight.grad)


@pytest.mark.slow
def test_fully_shard_and_tensor_parallel_run_unchanged():
    def sharded():
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh, net = init_device_mesh("cpu", (dist.get_world_size(),)), model()
        fully_shard(net[0], mesh=mesh)
        fully_shard(net, mesh=mesh)
        net(torch.ones(2, 8)).sum().backward()
        return net[0].weight.grad.full_tensor()

    def split():
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        net = parallelize_module(model(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
        net(torch.ones(2, 8)).sum().backward()
        return net[0].weight.grad.full_tensor()

    serial = model()
    serial(torch.ones(2, 8)).sum().backward()
    for fn in (sharded, split):
        for gradient in run(fn, ranks=4, on="dgx-a100").values:
            torch.testing.assert_close(gradient, serial[0].weight.grad)


@pytest.mark.slow
def test_many_ranks():
    def fn():
        x = torch.ones(4)
        dist.all_reduce(x)
        return x[0].item()

    assert run(fn, ranks=256, on="dgx-a100").values == [256] * 256
    assert "dgx-a100" in machines.names()
