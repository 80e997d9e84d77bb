"""torch's profilers around communication. The first rank to stop ended the process's one trace, and the next one to
stop was killed by SIGSEGV: 52 of torch's own test cases ended so."""

from __future__ import annotations

import json
import time

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.profiler import profile, record_function, schedule

from lockstep import run

WORLDS = [{"on": "dgx-a100"}, {"on": "dgx-a100", "fake": True}, {"on": "processes"}]
VIRTUAL = WORLDS[:2]


def names(profiler):
    """What the profiler's own table lists; a collective by its kind."""
    return {e.key.removeprefix("gloo:") for e in profiler.key_averages()}


def around_all_reduce():
    with profile() as profiler, record_function("my step"):
        dist.all_reduce(torch.ones(4, 4) @ torch.ones(4, 4))
    return names(profiler)


def around_messages():
    me, n = dist.get_rank(), dist.get_world_size()
    with profile() as profiler, record_function("my step"):
        x, got = torch.ones(4, 4) @ torch.ones(4, 4), torch.empty(4, 4)
        for work in (dist.isend(x, (me + 1) % n), dist.irecv(got, (me - 1) % n)):
            work.wait()
    return names(profiler)


def around_ddp():
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
    with torch.autograd.profiler.profile() as profiler, record_function("my step"):
        model(torch.ones(4, 4)).sum().backward()
    return names(profiler)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("options", WORLDS, ids=str)
@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (around_all_reduce, {"my step", "aten::mm", "all_reduce"}),
        (around_messages, {"my step", "aten::mm", "send", "recv"}),
        (around_ddp, {"my step", "aten::mm", "aten::addmm", "all_reduce"}),
    ],
)
def test_every_rank_has_a_profiler_of_its_own(program, expected, options):
    for seen in run(program, ranks=3, **options).values:
        assert expected <= seen


@pytest.mark.parametrize("options", VIRTUAL, ids=str)
def test_a_profiler_records_its_own_rank_only(options):
    """All of them are on at once, and each stops when its rank is done."""

    def fn():
        me = dist.get_rank()
        with profile() as profiler:
            dist.barrier()
            for _ in range(me + 1):
                torch.ones(4, 4) @ torch.ones(4, 4)
            time.sleep(me)
            dist.barrier()
        return next(e.count for e in profiler.key_averages() if e.key == "aten::matmul")

    assert run(fn, ranks=4, **options).values == [1, 2, 3, 4]


@pytest.mark.parametrize("warmup", [(1, 2), (2, 1), (1, 3), (3, 1, 2)], ids=str)
def test_profilers_that_begin_and_end_in_turn(warmup, tmp_path):
    """Rank 0 is warm before rank 1 has stopped, rank 1 begins again after rank 0 has. Each step can be written down.
    What rank 1 had prepared ended with rank 0's trace: it began nothing, and its stop was a SIGSEGV."""

    def fn():
        path, seen = tmp_path / f"{dist.get_rank()}.json", []

        def ready(profiler):
            profiler.export_chrome_trace(str(path))
            seen.append(sum(e["name"] == "gloo:all_reduce" for e in json.loads(path.read_text())["traceEvents"]))

        plan = schedule(wait=0, warmup=warmup[dist.get_rank()], active=2, repeat=2)
        with profile(schedule=plan, on_trace_ready=ready) as profiler:
            for _ in range(2 * max(warmup) + 4):
                dist.all_reduce(torch.ones(2, 2) @ torch.ones(2, 2))
                profiler.step()
        return seen

    assert run(fn, ranks=len(warmup), on="dgx-a100").values == [[2, 2]] * len(warmup)


def test_a_profiler_that_is_never_stopped_hurts_nobody():
    def fn():
        profiler = profile()
        profiler.start()
        dist.all_reduce(torch.ones(4))
        if dist.get_rank():
            profiler.stop()
        return dist.get_rank()

    assert run(fn, ranks=3, on="dgx-a100").values == [0, 1, 2]


def test_a_profiler_takes_no_virtual_time():
    def fn(profiled):
        with profile() if profiled else record_function("nothing"):
            dist.all_reduce(torch.ones(4, 4) @ torch.ones(4, 4))

    with_one, without = (run(fn, profiled, ranks=2, on="dgx-a100") for profiled in (True, False))
    assert with_one.trace.events == without.trace.events
