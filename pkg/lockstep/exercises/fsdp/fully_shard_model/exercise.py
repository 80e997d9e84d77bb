"""FSDP by hand: a deep model, with no more than a few whole layers on any rank at a
time. Its gradients are exact in float32."""

import random

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.recognise import footprint
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.fsdp.bytes_held_and_sent import FLOAT, HELD, SENT, held, shards, traffic
from lockstep.exercises.fsdp.padding import strange_memory, wrong_padding
from lockstep.sharded.flat import shard_of
from lockstep.sharded.layers import Dense, dense

DEEP, EXAMPLES = 16, 2  # layers; of each rank's batch
WIDE = (
    261  # what is added to even numbers, so that bfloat16 cannot hold them; where there is one layer, all stays exact
)
WHOLE = 5  # vectors of the largest layer that may be there at once


def cases(ranks: int, seed: int) -> list[Case]:
    """A deep model in the world and in a group of it; and one layer of two numbers, fewer than there are ranks."""
    tiny = [Case(ranks, seed, None, {"layers": 1})] if ranks == 3 else []
    return [Case(ranks, seed + n, group, {"layers": DEEP}) for n, group in enumerate(groups(ranks))] + tiny


def model(case: Case) -> list[Dense]:
    """Layers of about 600 numbers, odd ones too; to the last one, which is small, means over examples are exact."""
    draw = random.Random(case.seed)
    return dense([draw.randint(22, 26) for _ in range(DEEP)] + [4] if case.settings["layers"] > 1 else [1, 1])


def numels(case: Case) -> list[int]:
    return [layer.numel for layer in model(case)]


def vector(case: Case, index: int) -> Tensor:
    """Each output takes one input, so that numbers stay small; of the last layer all, plus or minus. There K is a
    factor, as in y, so that means over the ranks are exact."""
    layers, drawn = model(case), generator(case, -1 - index)
    layer, last = layers[index], index == len(layers) - 1
    bias = torch.randint(-1, 3, (layer.outputs,), generator=drawn)
    bias = 2 * bias + WIDE if len(layers) == 1 else bias
    signs = torch.where(torch.rand(layer.outputs, layer.inputs, generator=drawn) < 0.5, -1.0, 1.0)
    one = torch.eye(layer.inputs)[torch.randperm(layer.inputs, generator=drawn)].repeat(2, 1)[: layer.outputs]
    return torch.cat([case.size * signs.flatten(), case.size * bias]) if last else torch.cat([one.flatten(), bias])


def inputs(case: Case, rank: int) -> tuple[list[Dense], list[Tensor], Tensor, Tensor]:
    layers, drawn = model(case), generator(case, rank)
    r = case.members.index(rank) if rank in case.members else 0
    own = [shard_of(vector(case, i), r, case.size) for i in range(len(layers))]
    x = torch.randint(-2, 4, (EXAMPLES, layers[0].inputs), generator=drawn).float()
    y = case.size * torch.randint(-3, 4, (EXAMPLES, layers[-1].outputs), generator=drawn).float()
    if len(layers) == 1:
        x, y = 2 * x + WIDE, 2 * y + WIDE * case.size
    there = float((case.ranks, rank) != (3, 1))  # one of three ranks has zeros
    return layers, own, x * there, y * there


def wanted(case: Case) -> list[tuple[Tensor, ...]]:
    """All ranks' examples in one batch. The loss is theirs, in an order in which nothing is rounded."""
    layers, K = model(case), case.size
    flats = [vector(case, i).requires_grad_() for i in range(len(layers))]
    x, y = (torch.cat(rows) for rows in zip(*(inputs(case, rank)[2:] for rank in case.members), strict=True))
    for layer, flat in zip(layers, flats, strict=True):
        x = layer(flat, x)
    loss = ((x - y) / K).square().sum() * K / (EXAMPLES * layers[-1].outputs)
    means = torch.autograd.grad(loss, flats)
    return [tuple(shard_of(mean, r, K) for mean in means) for r in range(K)]


def room(case: Case) -> float:
    """A copy of the shards, those of the gradients, what goes in and out of the layers, and a few whole vectors."""
    between = sum(layer.inputs + layer.outputs for layer in model(case))
    whole = FLOAT * max(shards([N], case.size) // FLOAT * case.size for N in numels(case))
    return 2 * shards(numels(case), case.size) + 2 * FLOAT * EXAMPLES * between + WHOLE * whole


def least(case: Case) -> float:
    """Of a deep model the first and the last layer need no second gather."""
    thrice, once = numels(case), numels(case)[:: len(numels(case)) - 1 or 1]
    return (case.size - 1) * (3 * shards(thrice, case.size) - shards(once, case.size))


def flops(case: Case) -> int:
    """A forward pass four times: forward, backward (twice as many), and forward once more."""
    return 4 * 2 * EXAMPLES * sum(layer.inputs * layer.outputs for layer in model(case))


EXERCISE = Exercise(
    number=1, title="FSDP in one function", points=6, minutes=40, parameters="layers, shards, x, y, group=None",
    reference="lockstep.sharded.zero3:fully_shard_model", cases=cases, inputs=inputs, worlds=(1, 2, 3, 4, 8),
    values=Values(wanted=wanted, examine=wrong_padding(numels, wanted)),
    costs=Costs(measure_memory=True, algorithm="FSDP", budgets=(
        Budget(HELD, room, f"twice the shards, the activations, {WHOLE} times the largest layer",
               advice="Let go of a layer's vector as soon as the layer is computed, though autograd may still hold it; "
               "and of its gradient as soon as that is reduced."),
        traffic(times=3, numels=numels, formula="3(K-1)/K·N",
                advice="Each layer: two all-gathers and one reduce-scatter."),
        Budget("collectives", lambda case: 3 * len(numels(case)), "three for each layer"),
        Budget(SENT, least, "two gathers and a scatter of each layer, of the first and the last one gather less",
               at_most=None, at_least=1.0),
        Budget("flops", flops, advice="A layer's forward pass is computed twice at the most."),
    )),
    comparison=Comparison(footprint=lambda seen: (footprint(seen), max(held(seen)) > room(seen.case))),
    run=Run(timeout=2.5, watch=strange_memory),
    feedback=Feedback(answer="the list of the gradients' shards, one for each layer,"),
)  # fmt: skip
