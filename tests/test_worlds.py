"""One program in three worlds: every operation of torch.distributed gives the same values and the same counts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import UsageError


def number(rank, size=4, dtype=torch.float32):
    """A tensor that differs on every rank and in every place."""
    return torch.arange(size, dtype=dtype) + 10 * (rank + 1)


def point_to_point():
    """send, recv, isend, irecv, batch_isend_irecv, a recv from any source, tags."""
    rank, size = dist.get_rank(), dist.get_world_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    got = []
    if size > 1:
        x, y = number(rank), torch.zeros(4)
        work = dist.isend(x, right, tag=3)
        sender = dist.recv(y, left, tag=3)
        work.wait()
        got.append((sender, y.tolist()))
        y = torch.zeros(4)
        ops = [dist.P2POp(dist.isend, x, right), dist.P2POp(dist.irecv, y, left)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        got.append(y.tolist())
        if rank == 0:
            total = torch.zeros(4)
            for _ in range(size - 1):
                dist.recv(y)
                total += y
            got.append(total.tolist())
        else:
            dist.send(x, 0)
    return got


def collectives():
    """Every collective, with every root where there is one."""
    rank, size = dist.get_rank(), dist.get_world_size()
    got = {}
    for root in range(size):
        x = number(rank)
        dist.broadcast(x, root)
        got[f"broadcast {root}"] = x.tolist()
        x = number(rank)
        dist.reduce(x, root)
        got[f"reduce {root}"] = x.tolist() if rank == root else None
        slots = [torch.zeros(4) for _ in range(size)] if rank == root else None
        dist.gather(number(rank), slots, root)
        got[f"gather {root}"] = slots and [s.tolist() for s in slots]
        pieces = [number(r + root) for r in range(size)] if rank == root else None
        x = torch.zeros(4)
        dist.scatter(x, pieces, root)
        got[f"scatter {root}"] = x.tolist()
    for name in ("SUM", "PRODUCT", "MIN", "MAX"):
        x = number(rank)
        dist.all_reduce(x, getattr(dist.ReduceOp, name))
        got[name] = x.tolist()
    x = number(rank)
    dist.all_reduce(x, async_op=True).wait()
    got["async"] = x.tolist()
    slots = [torch.zeros(4) for _ in range(size)]
    dist.all_gather(slots, number(rank))
    got["all_gather"] = [s.tolist() for s in slots]
    whole = torch.zeros(4 * size)
    dist.all_gather_into_tensor(whole, number(rank))
    got["all_gather_into_tensor"] = whole.tolist()
    x = torch.zeros(4)
    dist.reduce_scatter_tensor(x, number(rank, 4 * size))
    got["reduce_scatter_tensor"] = x.tolist()
    x = torch.zeros(2 * size)
    dist.all_to_all_single(x, number(rank, 2 * size))
    got["all_to_all_single"] = x.tolist()
    sent = [(rank + peer) % 3 for peer in range(size)]  # uneven, and empty for some
    x = torch.zeros(sum(sent))
    dist.all_to_all_single(x, number(rank, sum(sent)), sent, sent)
    got["uneven all_to_all_single"] = x.tolist()
    dist.barrier()
    return got


def groups_and_objects():
    """A group that is not the world and does not start at rank 0; objects."""
    rank, size = dist.get_rank(), dist.get_world_size()
    got = {}
    members = list(range(1, size))
    if members:
        group = dist.new_group(members)
        if rank in members:
            x = number(rank)
            dist.all_reduce(x, group=group)
            got["all_reduce in a group"] = x.tolist()
            x = number(rank)
            dist.broadcast(x, members[-1], group=group)
            got["broadcast in a group"] = x.tolist()
            got["rank in it"] = dist.get_rank(group), dist.get_global_rank(group, 0)
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    got["objects"] = objects
    told = [{"from": 0}] if rank == 0 else [None]
    dist.broadcast_object_list(told, 0)
    got["told"] = told
    return got


def awkward():
    """Tensors that are empty, not contiguous, integers, or want gradients."""
    rank, size = dist.get_rank(), dist.get_world_size()
    got = []
    for x in (torch.zeros(0), number(rank, 4, torch.int64), number(rank, 3, torch.float64).requires_grad_()):
        y = x.detach().clone()
        dist.all_reduce(y)
        got.append(y.tolist())
    if size > 1 and rank < 2:
        x = number(rank, 12).reshape(3, 4)
        if rank == 0:
            dist.send(x.t().contiguous(), 1)
        else:
            y = torch.zeros(4, 3)
            dist.recv(y, 0)
            got.append(y.tolist())
    return got


PROGRAMS = [point_to_point, collectives, groups_and_objects, awkward]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_virtual_cluster_and_processes_agree(program, ranks):
    virtual = run(program, ranks=ranks, on="dgx-a100")
    processes = run(program, ranks=ranks)
    assert virtual.values == processes.values
    assert virtual.trace.counts() == processes.trace.counts()
    assert virtual.trace.world == "virtual"
    assert processes.trace.world == "processes"


def test_what_the_virtual_cluster_computes_is_right():
    """Not only the same as gloo: a few results by hand, for [10, 11, 12, 13] and [20, 21, 22, 23]."""
    first, second = run(collectives, ranks=2, on="dgx-a100").values
    assert first["SUM"] == second["SUM"] == [30, 32, 34, 36]
    assert first["PRODUCT"] == [200, 231, 264, 299]
    assert first["gather 0"] == [[10, 11, 12, 13], [20, 21, 22, 23]]
    assert second["gather 0"] is None
    assert second["scatter 1"] == [30, 31, 32, 33]
    assert first["reduce_scatter_tensor"] == [30, 32, 34, 36]
    assert second["all_to_all_single"] == [12, 13, 22, 23]


SCRIPT = """
import json, os, sys
sys.path.insert(0, {here!r})
from test_worlds import PROGRAMS
from lockstep import run

told = {{}}
for program in PROGRAMS:
    result = run(program)
    assert result.trace.world == "spmd"
    counts = [[r, k, *c] for (r, k), c in result.trace.counts().items()]
    told[program.__name__] = [result.values, counts]
if os.environ["RANK"] == "1":
    with open(sys.argv[1], "w") as file:
        json.dump(told, file)
"""


@pytest.mark.slow
def test_torchrun_agrees(tmp_path):
    """The same programs under a launcher: every rank gets all values, rank 1 tells them."""
    script, told = tmp_path / "program.py", tmp_path / "told.json"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent)))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run([*command, str(script), str(told)], check=True, timeout=200, capture_output=True)
    results = json.loads(told.read_text())
    for program in PROGRAMS:
        values, counts = results[program.__name__]
        virtual = run(program, ranks=2, on="dgx-a100")
        assert values == json.loads(json.dumps(virtual.values))
        assert counts == [[r, k, *c] for (r, k), c in virtual.trace.counts().items()]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: run(3, ranks=2), "a function as its first argument, not int"),
        (lambda: run(len, ranks=0), "a whole number from 1 on, not 0"),
        (lambda: run(len, ranks=2.5), "a whole number from 1 on, not 2.5"),
        (lambda: run(len, ranks=True), "a whole number from 1 on, not True"),
        (lambda: run(len), "how many ranks"),
        (lambda: run(len, ranks=5000, on="dgx-a100"), "5,000 ranks are more than makes sense"),
        (lambda: run(len, ranks=1000), "on the virtual cluster"),
        (lambda: run(len, ranks=2, on="dgx-a1000"), "dgx-a100"),
        (lambda: run(len, ranks=2, on="spmd"), "torchrun"),
        (lambda: run(len, ranks=2, rules="nccl"), "for the virtual cluster"),
        (lambda: run(len, ranks=2, on="laptop", rules="ncll"), "Did you mean 'nccl'?"),
        (lambda: run(len, ranks=2, ties=1), "for the order of ranks on the virtual cluster"),
        (lambda: run(len, ranks=2, on="laptop", ties="x"), "ties='x'"),
    ],
)
def test_a_call_that_makes_no_sense_gets_one_sentence(call, told):
    with pytest.raises(UsageError) as caught:
        call()
    assert told in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_run_does_not_nest(on):
    from lockstep.errors import RankRaised

    with pytest.raises(RankRaised, match="called by a rank of another run"):
        run(lambda: run(len, ranks=2), ranks=1, on=on)


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize("peer", [-1, 3])
@pytest.mark.parametrize("end", ["send", "recv"])
def test_a_peer_that_does_not_exist_is_named(on, peer, end):
    """-1 was the last rank on the virtual cluster, and a deadlock on gloo; 3 was "tuple index out of range"."""

    def fn():
        if dist.get_rank() == 0:
            getattr(dist, end)(torch.ones(1), peer)
        dist.barrier()

    from lockstep.errors import RankRaised

    with pytest.raises(RankRaised, match=f"there is no rank {peer} in this group: its ranks are 0 to 2"):
        run(fn, ranks=3, on=on)


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_the_trace_tells_what_was_never_waited_for(on):
    def fn():
        rank, x, y = dist.get_rank(), torch.ones(2), torch.zeros(2)
        sending = dist.isend(x, 1 - rank)
        dist.recv(y, 1 - rank)
        if rank == 0:
            sending.wait()
        reducing = dist.all_reduce(x, async_op=True)
        dist.barrier()
        time.sleep(0.05)  # it is over, and an operation that looks at it comes before the wait
        torch.ones(2).add_(1)
        reducing.wait()

    trace = run(fn, ranks=2, on=on).trace
    assert [(e.rank, e.kind) for e in trace if not e.awaited] == [(1, "send")]
