"""The global norm of shards: torch's on one rank, and one number a rank that travels."""

from __future__ import annotations

import math

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.sharded.clipping import clip_by_global_norm
from lockstep.sharded.flat import gathered, shard_of

SHAPES = ((7,), (3, 5), (1,))


def gradients() -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator) for shape in SHAPES]


def clipped(max_norm: float) -> tuple[Tensor, list[Tensor]]:
    """On a rank: the norm, and the gradients that all shards together are."""
    K, r = dist.get_world_size(), dist.get_rank()
    shards = [shard_of(g.flatten(), r, K) for g in gradients()]
    norm = clip_by_global_norm(shards, max_norm)
    return norm, [gathered(s, g.numel()).view_as(g) for s, g in zip(shards, gradients(), strict=True)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("on", "K", "max_norm"), [("dgx-a100", 1, 1.0), ("dgx-a100", 5, 1.0), ("dgx-a100", 4, 1e3), ("processes", 3, 1.0)]
)
def test_it_is_what_torch_does_on_one_rank(on: str, K: int, max_norm: float) -> None:
    parameters = [torch.zeros(shape) for shape in SHAPES]
    for p, g in zip(parameters, gradients(), strict=True):
        p.grad = g
    wanted = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    result = run(clipped, max_norm, ranks=K, on=on)
    for norm, found in result.values:
        assert norm.item() == pytest.approx(wanted.item(), rel=1e-6)
        torch.testing.assert_close(found, [p.grad for p in parameters])
    assert [(e.kind, e.nbytes) for e in result.trace.of_rank(0) if e.kind == "all_reduce"] == [("all_reduce", 8)]


def edges() -> list[tuple[float, float]]:
    """The norm, and a number of this rank after clipping to 1."""
    r, found = dist.get_rank(), []
    for value in (0.0, 1e30, math.nan, math.inf):
        shard = torch.tensor([value if r == 0 else 0.5 * bool(value)])
        found.append((clip_by_global_norm([shard], 1.0).item(), shard.item()))
    norm = clip_by_global_norm([torch.tensor([3.0])] if r == 0 else [], 1.0)
    return [*found, (norm.item(), 0.0)]


def test_zeros_large_numbers_and_what_is_none() -> None:
    (zero, large, nan, infinite, missing), (_, _, others, _, told) = run(edges, ranks=2, on="dgx-a100").values
    assert zero == (0.0, 0.0)
    assert large == (pytest.approx(1e30), pytest.approx(1.0)), "its square is too large for float32"
    assert all(map(math.isnan, (*nan, *others))), "all ranks notice"
    assert infinite[0] == math.inf
    assert missing[0] == told[0] == 3.0


def in_a_group() -> float:
    group = dist.new_group([1, 2])
    if dist.get_rank() == 0:
        return 0.0
    return clip_by_global_norm([torch.tensor([3.0 if dist.get_rank() == 1 else 4.0])], 1.0, group).item()


def test_a_group_of_some_ranks() -> None:
    assert run(in_a_group, ranks=3, on="dgx-a100").values == [0.0, 5.0, 5.0]
