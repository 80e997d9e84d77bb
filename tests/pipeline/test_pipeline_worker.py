"""The worker: whatever the schedule, every parameter's gradient and every weight is that of one rank."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep import run
from lockstep.comm.backend_rules import NCCL
from lockstep.errors import Deadlock, RankRaised, UsageError
from lockstep.experiments.pipeline import equality
from lockstep.experiments.pipeline.equality import CASES, Case, alone, beside_one_rank, furthest, loss, parts
from lockstep.pipeline.instructions import Backward, Forward, Update
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.schedules.interleaved import interleaved
from lockstep.pipeline.schedules.messages import with_messages
from lockstep.pipeline.stages import chunk, chunks_of_stage, cuts
from lockstep.pipeline.worker import PipelineWorker

ROUNDING = 1e-15
UNDER_TORCHRUN = Path(__file__).with_name("pipeline_under_torchrun.py")


# ---- beside one rank


SLOW = pytest.mark.slow


@pytest.mark.later
@pytest.mark.sampled(3)
@pytest.mark.parametrize("K", [1, pytest.param(2, marks=SLOW), 3, pytest.param(4, marks=SLOW), 8])
def test_gradients_and_weights_are_those_of_one_rank(K: int) -> None:
    rows = beside_one_rank((K,))
    assert len(rows) == sum(case.possible(K) for case in CASES) >= 8
    for row in rows:
        assert row["apart"] <= ROUNDING, row


@pytest.mark.slow
def test_on_processes_too() -> None:
    for row in beside_one_rank((3,), "processes"):
        assert row["apart"] <= ROUNDING, row


@pytest.mark.slow
def test_under_torchrun_too() -> None:
    K = 2
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(K)]
    told = subprocess.run([*command, str(UNDER_TORCHRUN)], capture_output=True, text=True, check=True, timeout=300)
    rows = json.loads(told.stdout.splitlines()[-1])
    assert len(rows) == sum(case.possible(K) for case in CASES)
    assert all(row["apart"] <= ROUNDING for row in rows), rows


@pytest.mark.slow
@pytest.mark.parametrize("K", [2, pytest.param(4, marks=SLOW)])
def test_under_nccls_rules_too(K: int) -> None:
    """Without tags, with messages carried out in order, without buffers."""
    cases = [case for case in CASES if case.possible(K)]
    result = run(equality.all_cases, cases, ranks=K, on="dgx-a100", rules=replace(NCCL, eager=-1))
    for n, case in enumerate(cases):
        found = {index: state for of_rank in result.values for index, state in of_rank[n].items()}
        assert furthest(found, alone(case, K)) <= ROUNDING, case


def exchanging_after_each(case: Case) -> None:
    stage, p, v = dist.get_rank(), dist.get_world_size(), case.chunks
    chunks, shapes = chunks_of_stage(equality.WIDTHS, stage, p, v, dtype=torch.float64)
    order = interleaved(stage, p, case.micro_batches, v)
    inputs, targets = parts(case.micro_batches)
    todo = with_messages([[step] for step in order], stage, p, v)
    PipelineWorker(chunks, shapes, loss, None).step(todo, [len(x) for x in inputs], inputs, targets)


def test_interleaving_exchanges_after_two_passes_for_a_reason() -> None:
    """After each single pass the ranks wait for each other in a circle, each for its last message to be received."""
    with pytest.raises(Deadlock):
        run(exchanging_after_each, Case("interleaved", 6, 3), ranks=3, on="dgx-a100")


@pytest.mark.later
def test_the_comparison_can_fail() -> None:
    """PipeDream on another number of stages has other weights; a lost layer is infinitely far away."""
    case = Case("pipedream", 7)
    assert furthest(alone(case, 2), alone(case, 3)) > 1e-6
    assert furthest({0: []}, alone(case, 2)) == float("inf")


# ---- what else it must do


def in_a_group(case: Case) -> equality.State | None:
    group = dist.new_group([3, 1])
    return equality.trained(case, group) if dist.get_rank() in (1, 3) else None


def test_a_group_that_is_not_the_world() -> None:
    """Its ranks are stages in the order of the group."""
    case = Case("one_f_one_b", 5)
    result = run(in_a_group, case, ranks=4, on="dgx-a100")
    found = {index: state for of_rank in result.values if of_rank for index, state in of_rank.items()}
    assert furthest(found, alone(case, 2)) <= ROUNDING


class Noisy(nn.Module):
    """A layer with dropout, whose random numbers must be the same when it is computed again."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(self.layer(x), 0.5)


def with_dropout(schedule: str) -> list[Tensor]:
    torch.manual_seed(dist.get_rank())
    (stage,), shapes = chunks_of_stage(equality.WIDTHS, dist.get_rank(), 2, dtype=torch.float64)
    module = Noisy(stage)
    sgd = torch.optim.SGD(module.parameters(), 0.1)
    inputs, targets = parts(4)
    worker = PipelineWorker([module], shapes, loss, sgd)
    worker.step(stream(schedule, dist.get_rank(), 2, 4), [len(x) for x in inputs], inputs, targets)
    return [p.grad.clone() for p in module.parameters() if p.grad is not None]


@pytest.mark.later
def test_recomputing_draws_the_same_random_numbers() -> None:
    plain, again = (run(with_dropout, name, ranks=2, on="dgx-a100") for name in ("gpipe", "gpipe, re-materialised"))
    for one, other in zip(plain.values, again.values, strict=True):
        assert len(one) == len(other) > 0
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def losses(schedule: str, m: int) -> list[float | None]:
    (stage,), shapes = chunks_of_stage(equality.WIDTHS, dist.get_rank(), 2, dtype=torch.float64)
    sgd = torch.optim.SGD(stage.parameters(), 0.1)
    inputs, targets = parts(m)
    worker = PipelineWorker([stage], shapes, loss, sgd)
    todo = stream(schedule, dist.get_rank(), 2, m)
    found = [worker.step(todo, [len(x) for x in inputs], inputs, targets) for _ in range(2)]
    return [None if of_step is None else of_step.item() for of_step in found]


def test_the_last_stage_has_the_mean_loss() -> None:
    """Over all 23 examples, in micro-batches of 5, 5, 5, 4 and 4."""
    first, last = run(losses, "one_f_one_b", 5, ranks=2, on="dgx-a100").values
    assert first == [None, None]
    whole = chunk(equality.WIDTHS, range(9), dtype=torch.float64)
    x, target = equality.batch()
    assert last[0] == pytest.approx(loss(whole(x), target).item(), abs=1e-15)
    assert last[1] < last[0]


def frozen_and_empty(schedule: str) -> list[Tensor]:
    """Stage 0: two layers, the first one frozen. Stage 1: no parameters at all. Stage 2: the loss."""
    stage = dist.get_rank()
    layers = [chunk((4, 4, 4, 4), range(0, 2)), nn.Sequential(nn.Tanh()), chunk((4, 4, 4, 4), range(2, 3))]
    layers[0][0].requires_grad_(False)
    weights = [p for p in layers[stage].parameters() if p.requires_grad]
    sgd = torch.optim.SGD(weights, 0.1) if weights else None
    x, targets = [torch.ones(2, 4), torch.ones(3, 4)], [torch.zeros(2, 4), torch.zeros(3, 4)]
    PipelineWorker(layers[stage : stage + 1], [(4,)], loss, sgd).step(stream(schedule, stage, 3, 2), [2, 3], x, targets)
    return [p.grad.clone() for p in weights if p.grad is not None]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["one_f_one_b", "zb_h1", "gpipe, re-materialised", "pipedream"])
def test_stages_without_parameters_and_frozen_ones(schedule: str) -> None:
    found = run(frozen_and_empty, schedule, ranks=3, on="dgx-a100").values
    assert [len(gradients) for gradients in found] == [2, 0, 2]
    if schedule == "pipedream":  # its last gradient is that of the last minibatch alone
        return
    first, last = chunk((4, 4, 4, 4), range(0, 2)), chunk((4, 4, 4, 4), range(2, 3))
    first[0].requires_grad_(False)
    loss(nn.Sequential(first, nn.Tanh(), last)(torch.ones(5, 4)), torch.zeros(5, 4)).backward()
    wanted = [p.grad for p in (*first.parameters(), *last.parameters()) if p.grad is not None]
    for mine, one in zip([g for of_rank in found for g in of_rank], wanted, strict=True):
        torch.testing.assert_close(mine, one)


def test_places_have_their_layers_evenly() -> None:
    assert cuts(9, 4) == [range(3), range(3, 5), range(5, 7), range(7, 9)]
    assert cuts(3, 3) == [range(1), range(1, 2), range(2, 3)]
    with pytest.raises(UsageError, match="3 layers cannot stand at 4 places"):
        cuts(3, 4)


def told_to(stream_of_one: list, micro_batches: int = 1) -> None:
    x = [torch.ones(1, 1)]
    PipelineWorker([nn.Linear(1, 1)], [(1,)], loss, None).step(stream_of_one, [1] * micro_batches, x, x)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (([Backward(0), Forward(0), Update()],), "The backward pass of micro-batch 0 comes before its forward pass"),
        (([Forward(0), Backward(0)],), "There is no Update"),
        (([Forward(0), Backward(0), Update()], 2), "inputs of 1 micro-batches, and sizes of 2"),
    ],
)
def test_a_stream_that_cannot_be_executed_is_told(wrong: tuple, said: str) -> None:
    """Not by a KeyError somewhere inside, and before anything is sent."""
    with pytest.raises(RankRaised, match=said):
        run(told_to, *wrong, ranks=1, on="dgx-a100")


def test_chunks_without_their_shapes_are_told() -> None:
    with pytest.raises(RankRaised, match="1 chunks have 0 shapes"):
        run(lambda: PipelineWorker([nn.Linear(1, 1)], [], loss, None), ranks=1, on="dgx-a100")
