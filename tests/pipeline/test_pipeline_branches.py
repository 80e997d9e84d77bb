"""Parallel branches: the gradients of one rank, all branches at once, and no stage that waits for another."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep import run
from lockstep.experiments.pipeline.branches import Branched
from lockstep.experiments.pipeline.notes_sample import at_once
from lockstep.models import linear

WIDTH = 6


def branch(index: int, width: int = WIDTH) -> nn.Module:
    """Branches differ in their depth."""
    layers = [linear(width, width, index, n, torch.float64) for n in range(1 + index % 2)]
    return nn.Sequential(*layers, nn.Tanh())


def inputs(width: int = WIDTH, examples: int = 5) -> Tensor:
    return torch.randn(examples, width, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def trained(group: dist.ProcessGroup | None = None) -> list[Tensor]:
    """On a rank: the output, the input's gradient, the branch's gradients."""
    rank = dist.get_rank(group)
    model = Branched(branch(rank), group)
    x = inputs() if rank == 0 else torch.zeros(5, WIDTH, dtype=torch.float64)
    out = model(x)
    (out.square().sum() if rank == 0 else out.sum()).backward()
    return [t.detach().clone() for t in (out, x.grad, *(p.grad for p in model.parameters())) if t is not None]


def alone(K: int) -> tuple[list[nn.Module], list[Tensor]]:
    branches, x = [branch(i) for i in range(K)], inputs().requires_grad_()
    out = sum((b(x) for b in branches), torch.zeros(5, WIDTH, dtype=torch.float64))
    out.square().sum().backward()
    return branches, [out.detach(), x.grad if x.grad is not None else out]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("K", "on"), [(1, "dgx-a100"), (2, "dgx-a100"), (4, "dgx-a100"), (3, "processes")])
def test_gradients_are_those_of_one_rank(K: int, on: str) -> None:
    result = run(trained, ranks=K, on=on)
    branches, (out, dx) = alone(K)
    torch.testing.assert_close(result.values[0][0], out)
    torch.testing.assert_close(result.values[0][1], dx)
    for rank, mine in enumerate(branches):
        for found, p in zip(result.values[rank][2:], mine.parameters(), strict=True):
            torch.testing.assert_close(found, p.grad)
    nbytes = 8 * 5 * WIDTH
    for kind in ("broadcast", "reduce"):  # one each forward, the other one backward
        assert result.trace.counts()[0, kind] == (2, 2 * nbytes)


def in_a_group() -> list[Tensor] | None:
    group = dist.new_group([3, 1])
    return trained(group) if dist.get_rank() in (1, 3) else None


def test_a_group_that_is_not_the_world() -> None:
    values = run(in_a_group, ranks=4, on="dgx-a100").values
    root = next(v for v in values if v is not None and v[0].abs().sum() > 0)
    torch.testing.assert_close(root[0], alone(2)[1][0])


def large() -> None:
    model = Branched(branch(1, 256))
    x = inputs(256, 512)
    dist.barrier()
    model(x).sum().backward()


def test_branches_compute_at_once() -> None:
    one, four = (run(large, ranks=K, on="dgx-a100") for K in (1, 4))
    assert at_once(four.trace) > 0.5 * one.time
