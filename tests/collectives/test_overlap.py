"""Overlap in virtual time: the longer of transfer and compute, not their sum."""

import pytest
import torch
import torch.distributed as dist
from collective_cases import WORLDS
from torch import Tensor

from lockstep import collectives
from lockstep.machines import Cluster, Device, Link
from lockstep.worlds import run


def step(name: str, side: int = 4, n: int = 5) -> tuple[Tensor, Tensor]:
    r = dist.get_rank()
    gradient, x = torch.arange(n) + float(r), torch.eye(side) * (r + 1)
    weights = torch.ones(side, side)
    return getattr(collectives, name)(gradient, x, weights)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("on", WORLDS.values(), ids=WORLDS.keys())
@pytest.mark.parametrize("name", ["overlapped_step", "one_after_the_other"])
@pytest.mark.parametrize("K", [1, 2, 5])
def test_values(K: int, name: str, on: str) -> None:
    for r, (gradient, product) in enumerate(run(step, name, ranks=K, on=on).values):
        assert gradient.tolist() == [K * i + K * (K - 1) / 2 for i in range(5)]
        assert torch.equal(product, torch.full((4, 4), r + 1.0))


def spans(name: str, flops: float) -> tuple[float, float, float]:
    """Seconds of the transfer, of the computation and of the whole step, where a matrix product takes 1/flops."""
    device = Device("slow", {"float32": flops}, 1e30, 1 << 40, 0.0)
    result = run(step, name, 64, 4096, ranks=4, on=Cluster("c", device, 1, Link(1.0, 1e-3), Link(1.0, 1e-3)))
    transfer = result.trace.of_kind("all_reduce")[0].duration
    compute = sum(e.duration for e in result.trace.of_rank(0) if e.kind == "compute")
    return transfer, compute, result.time


@pytest.mark.sampled(2)
@pytest.mark.parametrize("flops", [1e4, 3e4, 1e5, 1e6])
def test_the_step_takes_as_long_as_the_longer_of_the_two(flops: float) -> None:
    transfer, compute, whole = spans("overlapped_step", flops)
    assert whole == pytest.approx(max(transfer, compute), rel=1e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("flops", [1e4, 3e4, 1e5, 1e6])
def test_without_overlap_it_takes_as_long_as_both(flops: float) -> None:
    transfer, compute, whole = spans("one_after_the_other", flops)
    assert whole == pytest.approx(transfer + compute, rel=1e-3)


def with_columns() -> list[float]:
    gradient = torch.arange(6.0).view(3, 2)[:, 1]
    return collectives.overlapped_step(gradient, torch.eye(2), torch.eye(2))[0].tolist()


def test_a_gradient_that_is_not_contiguous() -> None:
    assert run(with_columns, ranks=3, on="laptop").values == [[3.0, 9.0, 15.0]] * 3
