"""A script that a launcher starts on every rank: two runs, and what they gave, as JSON."""

import json
import os
import sys
import time

import torch
import torch.distributed as dist

from lockstep.errors import RankRaised, RunError, UsageError
from lockstep.launch.job import Job
from lockstep.launchers import spmd


def ring(x):
    rank, world = dist.get_rank(), dist.get_world_size()
    x = x + rank
    got = torch.empty_like(x)
    for _ in range(world - 1):
        work = dist.isend(x, (rank + 1) % world)
        dist.recv(got, (rank - 1) % world)
        work.wait()
    dist.all_reduce(x)
    print("ring of", rank)
    return x.tolist(), got.tolist(), torch.rand(1).item()


def place():
    return [int(os.environ[n]) for n in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")], dist.get_rank()


def fail():
    if dist.get_rank() == 1:
        raise ValueError("on one rank")
    dist.barrier()


def wait_for_each_other():
    dist.recv(torch.ones(1), (dist.get_rank() + 1) % dist.get_world_size())


def different_groups():
    dist.new_group([0] if dist.get_rank() == 0 else [0, 1])


def run(fn, *args, **options):
    return spmd.run_spmd(Job.pack(fn, args, {}, spmd.detect().world_size, **options))


def error_of(fn, timeout):
    try:
        run(fn, timeout=timeout)
    except RunError as error:
        return [type(error).__name__, error.message.splitlines()[0], [s.state for s in error.states]]


if __name__ == "__main__":
    first, second = run(ring, torch.arange(3.0)), run(place)
    told = {
        "launcher": spmd.detect().launcher,
        "values": first.values,
        "counts": [[r, k, *c] for (r, k), c in first.trace.counts().items()],
        "matched": sorted({e.message for e in first.trace.of_kind("send")}),
        "printed": first.printed,
        "places": second.values,
        "world": first.trace.world,
        "compiler": "torch._dynamo" in sys.modules,  # half a second to load, on each rank
    }
    if "--fail" in sys.argv:
        told["groups"] = error_of(different_groups, 20)
        began = time.monotonic()
        told["error"] = error_of(fail, 1000)
        told["soon"] = time.monotonic() - began < 500  # not only when the time is up
        told["after"] = run(place).values == second.values
        told["deadlock"] = error_of(wait_for_each_other, 3)
        told["after that"] = run(place).values == second.values
    with open(os.path.join(sys.argv[1], f"rank-{dist.get_rank()}.json"), "w") as file:
        json.dump(told, file)
    assert issubclass(RankRaised, RunError)
    assert issubclass(UsageError, ValueError)
