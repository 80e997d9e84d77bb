"""BucketedDDP: the gradients of torch's DDP and of one rank, in the same bytes, hidden behind the backward pass."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from lockstep import run
from lockstep.data_parallel.ddp import BucketedDDP, bucketed_ddp, in_buckets
from lockstep.errors import UsageError
from lockstep.experiments.all_reduce_sgd.compared_with_torch import PROGRAMS, STEPS, beside_torch, beside_torch_table
from lockstep.models import batch_normed, linear, mlp

WORLDS = ("dgx-a100", "processes")
ROUNDING = 1e-15


def all_reduces(result: Any, rank: int = 0) -> list[Any]:
    return [e for e in result.trace.of_rank(rank) if e.kind == "all_reduce"]


def batch(examples: int = 8, width: int = 6) -> Tensor:
    return torch.randn(examples, width, generator=torch.Generator().manual_seed(dist.get_rank()))


# ---- beside torch's DDP, and beside one rank


@pytest.mark.slow
@pytest.mark.parametrize(("on", "ranks"), [("dgx-a100", (1, 2, 3, 4, 8)), ("processes", (3,))])
def test_gradients_and_bytes_are_those_of_torch_and_of_one_rank(on: str, ranks: tuple[int, ...]) -> None:
    rows = beside_torch(ranks, on)
    assert len(rows) == len(ranks) * len(PROGRAMS)
    for row in rows:
        assert row["from torch's"] <= ROUNDING, row
        assert row["from one rank"] is None or row["from one rank"] <= ROUNDING, row
        unused = PROGRAMS[row["model"]].unused
        parameters = len(list(PROGRAMS[row["model"]].build().parameters()))
        assert row["torch's bytes"] == row["bytes"] + unused * STEPS * 4 * parameters, row
        assert row["bytes"] == STEPS * 8 * sum(p.numel() for p in PROGRAMS[row["model"]].build().parameters()), row


@pytest.mark.slow
def test_several_backward_passes_are_sent_once() -> None:
    rows = {row["model"]: row for row in beside_torch((2,))}
    once, thrice = rows["two layers"], rows["three backward passes a step"]
    assert (thrice["bytes"], thrice["all-reduces a step"]) == (once["bytes"], once["all-reduces a step"])
    assert once["all-reduces a step"] == 2


# ---- buckets


def test_buckets_hold_the_last_layers_first() -> None:
    parameters = [torch.zeros(n) for n in (5, 1, 3, 2, 4)]
    assert [[p.numel() for p in bucket] for bucket in in_buckets(parameters, 20)] == [[4, 2], [3, 1, 5]]
    assert [[p.numel() for p in bucket] for bucket in in_buckets(parameters, 1)] == [[4], [2], [3], [1], [5]]
    assert len(in_buckets(parameters, math.inf)) == 1


def test_a_bucket_has_one_dtype() -> None:
    parameters = [torch.zeros(2), torch.zeros(2), torch.zeros(2, dtype=torch.float64)]
    assert [len(bucket) for bucket in in_buckets(parameters, math.inf)] == [1, 2]


def turned_round() -> list[list[float]]:
    """Rank 1 uses the two layers in the other order, and so its gradients come in the other order."""

    class Either(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.wide = linear(6, 6, 0, 0), linear(6, 6, 0, 1), linear(6, 9, 0, 2)

        def forward(self, x: Tensor) -> Tensor:
            inner, outer = (self.first, self.second)[:: -1 if dist.get_rank() else 1]
            return self.wide(outer(inner(x))).square().mean()

    found = []
    model = Either()
    BucketedDDP(model, 1)(batch()).backward()
    found.append([p.grad.sum().item() for p in model.parameters()])
    found.append([g.sum().item() for g in bucketed_ddp(Either(), batch(), 1)])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("on", WORLDS)
def test_ranks_whose_gradients_come_in_another_order_launch_in_the_same(on: str) -> None:
    (ours, short), (others, theirs) = run(turned_round, ranks=2, on=on).values
    assert ours == others == pytest.approx(short)
    assert short == theirs


# ---- overlap


def deep_pass(bucket_bytes: float) -> None:
    BucketedDDP(mlp([8] * 7), bucket_bytes)(batch(4, 8)).square().mean().backward()


@pytest.mark.slow
def test_all_buckets_but_the_last_travel_beside_products_of_the_backward_pass() -> None:
    simulated = run(deep_pass, 288, ranks=3, on="dgx-a100")
    sent = all_reduces(simulated)
    assert [e.nbytes for e in sent] == [288] * 6
    products = [e for e in simulated.trace.of_rank(0) if e.kind == "compute" and e.flops]
    assert all(any(e.posted <= p.posted < e.end for p in products) for e in sent[:-1])
    assert all(e.wait == 0 for e in sent[:-1])

    *early, last = (e.meanwhile for e in all_reduces(run(deep_pass, 288, ranks=3, on="processes")))
    product = 2 * 4 * 8 * 8
    assert early == [n * product for n in (9, 7, 5, 3, 1)]
    assert last == 0


def test_one_bucket_hides_nothing() -> None:
    (sent,) = all_reduces(run(deep_pass, math.inf, ranks=3, on="dgx-a100"))
    assert sent.wait == sent.duration


# ---- what gradients are


def views() -> tuple[bool, bool, list[float]]:
    model = mlp([6, 5, 4])
    ddp, optimizer = BucketedDDP(model, 100), torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for _ in range(2):
        optimizer.zero_grad()
        ddp(batch()).square().mean().backward()
        found.append([p.grad for p in model.parameters()])
        optimizer.step()
    storages = {bucket.flat.data_ptr() for bucket in ddp.buckets}
    inside = all(p.grad.untyped_storage().data_ptr() in storages for p in model.parameters())
    same = all(a is b for a, b in zip(*found, strict=True))
    optimizer.zero_grad(set_to_none=False)
    return inside, same, [bucket.flat.abs().sum().item() for bucket in ddp.buckets]


def test_gradients_are_views_of_their_buckets() -> None:
    for inside, same, emptied in run(views, ranks=2, on="dgx-a100").values:
        assert inside
        assert same, "the next pass leaves its gradients in the same place"
        assert not any(emptied)


def accumulated_without_zeroing() -> bool:
    """Who does not empty the gradients adds mean to mean, as on one rank."""
    model = mlp([6, 5, 4])
    ddp = BucketedDDP(model, 100)
    ddp(batch()).square().mean().backward()
    once = [p.grad.clone() for p in model.parameters()]
    ddp(batch()).square().mean().backward()
    return all(torch.allclose(p.grad, 2 * g) for p, g in zip(model.parameters(), once, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("on", WORLDS)
def test_gradients_add_up_over_passes(on: str) -> None:
    assert run(accumulated_without_zeroing, ranks=3, on=on).values == [True] * 3


# ---- models of all kinds


class Recomputed(nn.Module):
    """A backward pass within the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.rest = linear(6, 6, 0, 0), mlp([6, 6, 3])

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.rest, self.first(x), use_reentrant=True).square().mean()


def recomputed() -> list[list[Tensor]]:
    ddp = BucketedDDP(Recomputed(), 100)
    ddp(batch()).backward()
    return [[p.grad for p in ddp.parameters()], bucketed_ddp(Recomputed(), batch(), math.inf)]


def test_activations_that_are_computed_again() -> None:
    for ours, short in run(recomputed, ranks=2, on="dgx-a100").values:
        for a, b in zip(ours, short, strict=True):
            torch.testing.assert_close(a, b)


def frozen() -> list[bool]:
    model = mlp([6, 5, 4])
    for p in model[0].parameters():
        p.requires_grad_(False)
    BucketedDDP(model)(batch()).square().mean().backward()
    return [p.grad is None for p in model.parameters()]


def test_frozen_parameters_do_not_travel() -> None:
    result = run(frozen, ranks=2, on="dgx-a100")
    assert result.values == [[True, True, False, False]] * 2
    assert sum(e.nbytes for e in all_reduces(result)) == 4 * (5 * 4 + 4)


def started_apart() -> tuple[list[float], list[float]]:
    model = batch_normed([6, 5, 4], seed=dist.get_rank())
    ddp = BucketedDDP(model)
    weights = [p.sum().item() for p in model.parameters()]
    for _ in range(2):
        ddp(batch())
    model.eval()
    ddp(batch())  # running statistics are read here, and need not be sent
    return weights, [b.double().sum().item() for b in model.buffers()]


def test_replicas_start_alike_and_statistics_are_those_of_the_first_rank() -> None:
    result = run(started_apart, ranks=3, on="dgx-a100")
    (first, *others) = (weights for weights, _ in result.values)
    assert all(other == first for other in others)
    sent = result.trace.of_rank(0)
    assert len([e for e in sent if e.kind == "broadcast"]) == (6 + 3) + 2 * 3
    assert result.values[0][1] != result.values[1][1], "each rank has just counted its own share in"


def in_a_group() -> list[float] | None:
    group = dist.new_group([1, 3])
    if dist.get_rank() not in (1, 3):
        return None
    model = mlp([6, 4])
    BucketedDDP(model, 10, group)(batch()).square().mean().backward()
    return [p.grad.sum().item() for p in model.parameters()]


@pytest.mark.slow
@pytest.mark.parametrize("on", WORLDS)
def test_a_group_of_some_ranks(on: str) -> None:
    zero, one, two, three = run(in_a_group, ranks=4, on=on).values
    assert zero is two is None
    assert one == three


def test_a_model_without_parameters_is_told() -> None:
    with pytest.raises(UsageError, match="no parameter that requires a gradient"):
        BucketedDDP(nn.ReLU())


@pytest.mark.slow
def test_the_table_has_a_row_for_each_program_and_says_what_has_no_one_rank_run() -> None:
    table = beside_torch_table(2)
    assert [row[0] for row in table.rows] == list(PROGRAMS)
    assert {row[0] for row in table.rows if row[2] == "another model"} == {"batch normalisation"}
