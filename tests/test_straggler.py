"""A straggler by work: what it computes is counted, not timed."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch.utils.flop_counter import FlopCounterMode

from lockstep import run
from lockstep.errors import UsageError
from lockstep.machines import Cluster, Device, Link
from lockstep.straggler import PRODUCT, ROW, burn


@pytest.mark.parametrize("flops", [0, 1, ROW, 1e7, PRODUCT, 3 * PRODUCT + 5 * ROW, 1e9])
def test_it_computes_what_it_says_and_says_what_was_asked_for(flops: float) -> None:
    with FlopCounterMode(display=False) as counter:
        done = burn(flops)
    assert counter.get_total_flops() == done
    assert abs(done - flops) <= ROW / 2


def test_the_numbers_stay_finite_and_autograd_sees_nothing() -> None:
    """Denormal or infinite numbers take another time on many processors."""
    made: list[torch.Tensor] = []

    class Keeping(FlopCounterMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made.append(super().__torch_dispatch__(func, types, args, kwargs))
            return made[-1]

    with Keeping(display=False):
        burn(2 * PRODUCT)
    products = made[-2:]
    assert all(torch.allclose(p, torch.full((256, 256), 1 / 256)) for p in products)
    assert not any(p.requires_grad for p in products)


def step(k: int) -> int:
    """Every rank has one share of the work, and rank 2 has k. How much it was."""
    with FlopCounterMode(display=False) as counter:
        burn(1e8)
        if dist.get_rank() == 2:
            burn((k - 1) * 1e8)
        dist.barrier()
    return counter.get_total_flops()


def test_on_processes_a_straggler_has_k_times_the_work_of_the_others() -> None:
    done = run(step, 3, ranks=3, on="processes").values
    assert done[0] == done[1] == round(1e8 / ROW) * ROW
    assert done[2] == pytest.approx(3 * done[0], abs=ROW)


def test_on_the_virtual_cluster_the_same_program_is_as_late_as_a_rank_of_a_third_of_the_speed() -> None:
    """On a device that only computes, so many times the work is so many times the time."""
    device, wire = Device("computes", {"float32": 1e9}, 1e30, 10**9, 0.0), Link(1e-6, 1e-9)
    cluster = Cluster("by hand", device, 8, wire, wire)
    by_work = run(step, 3, ranks=3, on=cluster)
    by_speed = run(step, 1, ranks=3, on=cluster.with_rank(2, speed=1 / 3))
    assert by_work.time == pytest.approx(by_speed.time, rel=1e-3)
    assert by_work.trace.of_rank(2)[0].flops == by_work.values[2]


@pytest.mark.parametrize("flops", [-1, float("nan"), float("inf")])
def test_work_that_there_is_not_is_refused(flops: float) -> None:
    with pytest.raises(UsageError, match="There is no work of"):
        burn(flops)
