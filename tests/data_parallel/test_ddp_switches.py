"""What torch's DDP sends with no_sync, with autocast, and with a hook that rounds to bfloat16."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.nn.parallel import DistributedDataParallel

from lockstep import models
from lockstep.experiments.all_reduce_sgd import ddp_switches
from lockstep.experiments.all_reduce_sgd.ddp_switches import PARTS, RANKS, WAYS, Switches, halved
from lockstep.worlds import run

NUMBERS = 64 * 64 + 64 + 64 * 10 + 10  # of the model: weights and biases


def of_one_step(on: Switches) -> list[Tensor]:
    model = DistributedDataParallel(models.mlp([64, 64, 10]))
    if on.hook:
        model.register_comm_hook(dist.group.WORLD, halved)
    draw = torch.Generator().manual_seed(dist.get_rank())
    x, y = torch.randn(16, 64, generator=draw), torch.randint(10, (16,), generator=draw)
    ddp_switches.backward(model, x, y, on)
    return [p.grad for p in model.parameters()]


@pytest.mark.parametrize(("name", "all_reduces", "nbytes"), [("DDP", PARTS, 4), ("no_sync", 1, 4),
                         ("no_sync, autocast", 1, 4), ("no_sync, autocast, bf16 hook", 1, 2)])  # fmt: skip
def test_it_sends(name: str, all_reduces: int, nbytes: int) -> None:
    """autocast computes in bfloat16 and sends float32: only the hook halves the bytes."""
    ran = run(of_one_step, WAYS[name], ranks=RANKS, on="commodity-10g")
    sums = [event.nbytes for event in ran.trace.of_rank(0) if event.kind == "all_reduce"]
    assert sums == [NUMBERS * nbytes] * all_reduces
    assert {g.dtype for g in ran.values[0]} == {torch.float32}


def test_no_sync_ends_at_the_same_gradients_and_the_hook_at_ones_that_bfloat16_holds() -> None:
    each, once, rounded = (
        run(of_one_step, on, ranks=RANKS, on="commodity-10g").values[0]
        for on in (WAYS["DDP"], WAYS["no_sync"], Switches(no_sync=True, hook=True))
    )
    torch.testing.assert_close(each, once)
    torch.testing.assert_close(rounded, once, rtol=2**-6, atol=1e-4)
    assert all(torch.equal(g, g.bfloat16().float()) for g in rounded)


def under_its_own_name() -> None:
    model = DistributedDataParallel(models.mlp([4, 4]))
    model.register_comm_hook(None, bf16_compress_hook)


def test_torch_refuses_the_hook_by_its_name_where_there_is_no_nccl() -> None:
    """Why ddp_switches has one of another name; when this changes, it can go."""
    with pytest.raises(Exception, match="BF16 all reduce communication hook required"):
        run(under_its_own_name, ranks=2, on="laptop")


@pytest.mark.slow
def test_the_table_of_lesson_05() -> None:
    rows = ddp_switches.switches_table().rows
    assert [row[1] for row in rows] == [str(PARTS), "1", "1", "1"]
    assert [row[2] for row in rows] == ["77.0 kB", "19.2 kB", "19.2 kB", "9.6 kB"]
    losses = [float(row[3]) for row in rows]
    assert max(losses) - min(losses) < 0.01
