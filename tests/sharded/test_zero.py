"""ZeRO's stages: the parameters and gradients of one rank, for the bytes and the memory that the paper promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.cost.sharding import booked, model_states
from lockstep.errors import UsageError
from lockstep.experiments.all_reduce_sgd.compared_with_torch import PROGRAMS, STEPS, Program, batch, loss
from lockstep.models import mlp
from lockstep.sharded.activation_checkpointing import in_segments
from lockstep.sharded.flat import gathered
from lockstep.sharded.gradient_clipping import mend_local_clipping
from lockstep.sharded.zero import Zero

BUCKET_BYTES = 100
ROUNDING = 1e-14
OPTIMIZERS: dict[str, Callable[[Sequence[Tensor]], torch.optim.Optimizer]] = {
    "momentum": lambda tensors: torch.optim.SGD(tensors, lr=0.1, momentum=0.9),
    "Adam": lambda tensors: torch.optim.Adam(tensors, lr=0.01),
}

# ---- beside one rank


def whole_gradients(zero: Zero) -> dict[Tensor, Tensor]:
    """What the ranks' shards say together, by parameter."""
    found: dict[Tensor, Tensor] = {}
    for bucket in zero.buckets:
        flat = bucket.shard.grad if zero.stage == 0 else gathered(bucket.shard.grad, bucket.N, zero.group)
        pieces = torch.split(flat, [p.numel() for p in bucket.parameters])
        found |= {p: piece.view_as(p) for p, piece in zip(bucket.parameters, pieces, strict=True)}
    return found


def trained(program: Program, optimizer: str, stage: int) -> list[Tensor]:
    """On a rank: the gradients of the last step, and the parameters after it."""
    model = program.build()
    zero = Zero(model, OPTIMIZERS[optimizer], stage, BUCKET_BYTES)
    share = batch().chunk(dist.get_world_size())[dist.get_rank()]
    for _ in range(STEPS):
        zero.zero_grad()
        *early, last = share.chunk(program.passes)
        with zero.no_sync():
            for part in early:
                (loss(zero, part) / program.passes).backward()
        (loss(zero, last) / program.passes).backward()
        gradients = whole_gradients(zero)
        zero.step()
    return [t.detach().clone() for t in (*(gradients[p] for p in model.parameters()), *model.parameters())]


def alone(program: Program, optimizer: str, K: int) -> list[Tensor]:
    model = program.build()
    stepping = OPTIMIZERS[optimizer](list(model.parameters()))
    for _ in range(STEPS):
        stepping.zero_grad(set_to_none=False)
        parts = batch().chunk(K) if program.alone == "shares" else [batch()]
        torch.stack([loss(model, part) for part in parts]).mean().backward()
        for p in model.parameters():
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad  # what nobody uses: Adam goes on
        stepping.step()
    return [t.detach().clone() for t in (*(p.grad for p in model.parameters()), *model.parameters())]


TRAININGS = [
    ("two layers", "Adam"),
    ("a matrix used twice", "momentum"),
    ("layers that some ranks use", "momentum"),
    ("three backward passes a step", "momentum"),
]


def all_trained() -> dict[Any, list[Tensor]]:
    return {(n, o, stage): trained(PROGRAMS[n], o, stage) for n, o in TRAININGS for stage in (0, 1, 2)}


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("on", "K"), [("dgx-a100", 1), ("dgx-a100", 2), ("dgx-a100", 3), ("dgx-a100", 4), ("dgx-a100", 8), ("processes", 3)]
)
def test_gradients_and_parameters_are_those_of_one_rank(on: str, K: int) -> None:
    wanted = {(n, o): alone(PROGRAMS[n], o, K) for n, o in TRAININGS}
    for found in run(all_trained, ranks=K, on=on).values:
        for (name, optimizer, stage), tensors in found.items():
            for a, b in zip(tensors, wanted[name, optimizer], strict=True):
                assert (a - b).abs().max() <= ROUNDING, (name, optimizer, stage)


# ---- what it costs

SIZES = (24, 40, 24, 9)
IN_BUCKETS = [(inputs + 1) * outputs for inputs, outputs in pairwise(SIZES)][::-1]  # a layer each, the last one first


def steps(stage: int, passes: int = 1, precision: torch.dtype | None = None) -> list[tuple[int, int]]:
    zero = Zero(mlp(SIZES), torch.optim.Adam, stage, bucket_bytes=4 * min(IN_BUCKETS), precision=precision)
    for _ in range(2):
        zero.zero_grad()
        with zero.no_sync():
            for _ in range(passes - 1):
                zero(torch.ones(2, SIZES[0])).square().mean().backward()
        zero(torch.ones(2, SIZES[0])).square().mean().backward()
        zero.step()
    return [(len(bucket.whole), len(bucket.shard)) for bucket in zero.buckets]


def sent(result: Any, kind: str) -> int:
    return sum(event.nbytes for event in result.trace.of_rank(0) if event.kind == kind)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("stage", [0, 1, 2])
def test_bytes_and_memory_are_those_of_the_formula(stage: int, K: int) -> None:
    result = run(steps, stage, ranks=K, on="dgx-a100")
    whole = [whole for whole, _ in result.values[0]]
    states, peaks = model_states(IN_BUCKETS, K, stage), result.memory[0].peaks
    twice = max(sum(whole[: j + 1]) + sum(IN_BUCKETS[j:]) for j in range(len(whole)))
    assert 4 * sum(whole) == states.parameters
    assert peaks["parameters"] == 4 * twice, "a bucket is there twice while it is made"
    assert peaks["optimizer state"] == states.optimizer + 4 * len(whole), "Adam counts the steps of each tensor"
    assert states.gradients <= peaks["gradients"] <= states.gradients + (2 * 4 * max(whole) if stage == 2 else 0)
    for kind, (number, nbytes) in booked(IN_BUCKETS, K, stage).items():
        found = [event.nbytes for event in result.trace.of_rank(0) if event.kind == kind]
        assert (len(found), sum(found)) == (2 * number, 2 * nbytes), kind


@pytest.mark.slow
def test_micro_batches_are_sent_once_or_each() -> None:
    once, thrice = (4 * sum(IN_BUCKETS) * steps_ for steps_ in (2, 6))
    for stage, kind, nbytes in ((0, "all_reduce", once), (1, "reduce_scatter", once), (2, "reduce_scatter", thrice)):
        result = run(steps, stage, 3, ranks=2, on="dgx-a100")
        padding = 4 * (sum(whole for whole, _ in result.values[0]) - sum(IN_BUCKETS))
        assert nbytes <= sent(result, kind) <= nbytes + 6 * padding


def test_mixed_precision_halves_what_is_computed_with_and_what_travels() -> None:
    for stage in (1, 2):
        result = run(steps, stage, 1, torch.bfloat16, ranks=2, on="dgx-a100")
        whole, shards = zip(*result.values[0], strict=True)
        peaks = result.memory[0].peaks
        assert sent(result, "reduce_scatter") == sent(result, "all_gather") == 2 * 2 * sum(whole)
        assert peaks["optimizer state"] == 8 * sum(shards) + 4 * len(shards)
        if stage == 1:
            assert peaks["gradients"] == 2 * sum(whole) + 4 * sum(shards)
        else:
            assert peaks["gradients"] <= 4 * sum(shards) + 2 * 2 * max(whole)


def small_updates(master: bool) -> float:
    """How far a parameter of 0.5 has moved after 30 steps of 10^-4."""
    model = torch.nn.Linear(4, 4, bias=False, dtype=torch.float32 if master else torch.bfloat16)
    torch.nn.init.constant_(model.weight, 0.5)
    precision = torch.bfloat16 if master else None
    zero = Zero(model, lambda tensors: torch.optim.SGD(tensors, lr=1e-4), 2, precision=precision)
    for _ in range(30):
        zero.zero_grad()
        zero(torch.ones(1, 4, dtype=model.weight.dtype)).sum().backward()
        zero.step()
    return 0.5 - model.weight.max().item()


def test_small_updates_add_up_in_the_master() -> None:
    """Each is less than half a bit of a bfloat16: in the copy alone, none is seen."""
    for alone, moved in run(lambda: (small_updates(False), small_updates(True)), ranks=2, on="dgx-a100").values:
        assert alone == 0
        assert moved == pytest.approx(30 * 1e-4, rel=0.4)


def every_precision() -> list[tuple[bool, bool]]:
    """Whether a step has moved the model, and whether its parameters have the dtype that was asked for."""
    found = []
    for model_dtype in (torch.float32, torch.bfloat16, torch.float64):
        for precision in (torch.float32, torch.bfloat16):
            model = mlp((6, 5, 3), dtype=model_dtype)
            zero = Zero(model, lambda tensors: torch.optim.SGD(tensors, lr=1.0), 2, precision=precision)
            before = model[0].weight.detach().clone()
            zero(torch.ones(2, 6)).sum().backward()
            zero.step()
            right = model[0].weight.dtype == precision and zero.shards[0].dtype in (torch.float32, torch.float64)
            found.append((not torch.equal(model[0].weight, before), right))
    return found


def test_the_model_gets_what_the_master_has_whatever_its_dtype_was() -> None:
    """A master in the dtype that the model computes with, too, was taken for a view of its parameters: no step moved
    the model."""
    assert run(every_precision, ranks=2, on="dgx-a100").values == [[(True, True)] * 6] * 2


def test_buckets_travel_while_the_backward_pass_goes_on() -> None:
    result = run(deep, ranks=3, on="dgx-a100")
    events = [e for e in result.trace.of_rank(0) if e.kind == "reduce_scatter"]
    assert len(events) == 6
    assert all(e.wait == 0 for e in events[:-1])


def deep() -> None:
    zero = Zero(mlp([64] * 7), torch.optim.SGD, 2, bucket_bytes=4 * 65 * 64)
    zero(torch.ones(512, 64)).square().mean().backward()


# ---- what may be asked of it


def in_a_group() -> list[float] | None:
    group = dist.new_group([1, 3])
    if dist.get_rank() not in (1, 3):
        return None
    found = []
    for stage in (0, 1, 2):
        model = mlp((7, 5, 3))
        zero = Zero(model, OPTIMIZERS["momentum"], stage, 100, group)
        zero(torch.full((2, 7), float(dist.get_rank()))).square().mean().backward()
        zero.step()
        found.append(sum(p.sum().item() for p in model.parameters()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_a_group_of_some_ranks(on: str) -> None:
    zero, one, two, three = run(in_a_group, ranks=4, on=on).values
    assert zero is two is None
    assert one == three
    assert one == pytest.approx([one[0]] * 3)


def twice(stage: int) -> float:
    zero = Zero(mlp((7, 5, 3)), OPTIMIZERS["momentum"], stage)
    for _ in range(2):
        zero(torch.ones(2, 7)).square().mean().backward()
    return sum(shard.grad.sum().item() for shard in zero.shards)


def test_gradients_add_up_or_the_call_is_refused() -> None:
    """In stage 1 a mean takes the place of a part of the sums, which cannot be added to any more."""
    whole, shards = zip(*run(lambda: (twice(0), twice(2)), ranks=2, on="dgx-a100").values, strict=True)
    assert sum(whole) == pytest.approx(2 * sum(shards)), "stage 0 has the whole gradient on each of two ranks"
    with pytest.raises(Exception, match="sent already"):
        run(twice, 1, ranks=2, on="dgx-a100")


def recomputed(stage: int) -> list[Tensor]:
    model = mlp((6, 6, 6, 3))

    class Recomputed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = model

        def forward(self, x: Tensor) -> Tensor:
            return in_segments(list(self.layers), 3, x)

    zero = Zero(Recomputed(), OPTIMIZERS["momentum"], stage, 100)
    zero(torch.ones(2, 6)).square().mean().backward()
    zero.step()
    return [p.detach() for p in model.parameters()]


def test_activations_may_be_computed_again() -> None:
    model = mlp((6, 6, 6, 3))
    stepping = OPTIMIZERS["momentum"](list(model.parameters()))
    model(torch.ones(2, 6)).square().mean().backward()
    stepping.step()
    for found in run(lambda: [recomputed(1), recomputed(2)], ranks=2, on="dgx-a100").values:
        torch.testing.assert_close(found, 2 * [list(model.parameters())])


def test_stages_that_are_not_here() -> None:
    with pytest.raises(UsageError, match="no stage 3"):
        Zero(mlp((2, 2)), torch.optim.SGD, 3)


def clipped(stage: int) -> list[Tensor]:
    model = mlp((7, 5, 3))
    zero = Zero(model, OPTIMIZERS["momentum"], stage, 100)
    zero(torch.ones(2, 7)).square().mean().backward()
    gradients = [shard.grad for shard in zero.shards if shard.grad is not None]
    torch._foreach_copy_(gradients, mend_local_clipping(gradients, 0.01))
    zero.step()
    return [p.detach() for p in model.parameters()]


def test_a_clipped_step_is_that_of_one_rank() -> None:
    model = mlp((7, 5, 3))
    stepping = OPTIMIZERS["momentum"](list(model.parameters()))
    model(torch.ones(2, 7)).square().mean().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    stepping.step()
    for found in run(lambda: [clipped(1), clipped(2)], ranks=3, on="dgx-a100").values:
        torch.testing.assert_close(found, 2 * [list(model.parameters())])
