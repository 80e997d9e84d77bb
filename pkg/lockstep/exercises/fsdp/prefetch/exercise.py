"""Gather the next layer while this one computes: judged by what is computed beside each gather, and by the peak."""

from random import Random

import torch
from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.overlap import beside
from lockstep.checks.values import compare
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case, noting, results
from lockstep.sharded.flat import shard_length, shard_of
from lockstep.sharded.held import held_beside
from lockstep.sharded.layers import Dense, dense

EXAMPLES, WIDEST = 4, 36
LAYERS = {1: 3, 2: 6, 3: 1, 5: 2}  # by ranks; 5 elsewhere


def cases(ranks: int, seed: int) -> list[Case]:
    few = [LAYERS.get(ranks, 5)] + [5] * (ranks == 3)
    rows = [(group, layers) for group in groups(ranks) for layers in few]
    return [case(ranks, seed + n, group, layers=layers) for n, (group, layers) in enumerate(rows)]


def model(case: Case) -> list[Dense]:
    draw = Random(case.seed)
    return dense([draw.randint(30, WIDEST) for _ in range(case.settings["layers"] + 1)])


def inputs(case: Case, rank: int) -> tuple[list[Dense], list[Tensor], Tensor]:
    """Small whole numbers, of which every sum is exact. Nobody has them but in shards."""
    layers, drawn = model(case), generator(case, -1)
    flats = [torch.randint(-1, 2, (layer.numel,), generator=drawn).float() for layer in layers]
    at = case.members.index(rank) if rank in case.members else 0
    x = torch.randint(-2, 3, (EXAMPLES, layers[0].inputs), generator=generator(case, rank)).float()
    return layers, [shard_of(flat, at, case.size) for flat in flats], x


def wanted(case: Case) -> list[Tensor]:
    outputs = []
    flats = [torch.cat(rows) for rows in zip(*(inputs(case, rank)[1] for rank in case.members), strict=True)]
    for rank in case.members:
        layers, _, x = inputs(case, rank)
        for layer, flat in zip(layers, flats, strict=True):
            x = layer(flat[: layer.numel], x)
        outputs.append(x)
    return outputs


def examine(seen: Seen) -> Fault | None:
    return compare(seen, results(seen), wanted(seen.case))


def nbytes(case: Case) -> list[int]:
    """Of each layer's whole vector."""
    return [4 * case.size * shard_length(layer.numel, case.size) for layer in model(case)]


def two_layers(case: Case) -> int:
    """Bytes of two layers as large as the largest, and of what a layer takes in and gives out."""
    return 2 * max(nbytes(case)) + 4 * EXAMPLES * 3 * WIDEST


def around(seen: Seen, rank: int) -> list[tuple[float, float]]:
    """FLOPs before each of a rank's gathers is posted, and from then until it is waited for, or later."""
    events = seen.trace.of_rank(rank)
    computing = [e for e in events if e.kind == "compute" and e.flops]
    moving = [e for e in events if e.kind not in ("compute", "barrier")]
    return [(sum(c.flops for c in computing if c.posted < e.posted), beside(e, computing)) for e in moving]


def order(seen: Seen) -> list[Fault]:
    """The first gather beside which the layer before it does not compute, or one before that does, too."""
    products = [2 * EXAMPLES * layer.inputs * layer.outputs for layer in model(seen.case)]
    for rank in seen.case.members if seen.case.size > 1 else ():
        gathers = around(seen, rank)
        timed = any(before for before, _ in gathers)
        for i, flops in enumerate(products[:-1]):
            before, meanwhile = gathers[i + 1]
            done = sum(products[:i])
            begin = f"With {seen.case}, on rank {rank} the gather of layer {i + 1}"
            if before > done:
                return [
                    Fault(
                        "starts-too-late",
                        f"{begin} starts when layer {i} is already computing, or later: post it before.",
                    )
                ]
            if meanwhile < flops:
                return [Fault("waits-at-once", f"{begin} should travel while layer {i} computes, and does not.")]
            if before < done if timed else meanwhile > flops:
                return [
                    Fault("starts-too-early", f"{begin} starts before layer {i - 1} has computed: three are whole.")
                ]
    return []


def footprint(seen: Seen) -> object:
    """What two right answers share whose mistake is the same."""
    return [around(seen, rank) for rank in seen.case.members], HELD.count(seen) > two_layers(seen.case)


HELD = Measure(
    lambda seen: max(seen.returned[rank]["found"] for rank in seen.case.members), "byte",
    "a rank holds {} at once beside its arguments", "at most {} held at once", "bytes-held",
)  # fmt: skip


EXERCISE = Exercise(
    number=2, title="Gather ahead", points=4, minutes=20, parameters="layers, shards, x, group=None",
    reference="lockstep.sharded.prefetching:prefetch", cases=cases, inputs=inputs, worlds=(1, 2, 3, 4),
    watch=noting(held_beside), examine=examine, alike=results, kept=True, of="gathering ahead", seconds=2.5,
    budgets=(
        Budget("collectives", lambda case: case.settings["layers"], "one for each layer"),
        Budget("collective bytes", lambda case: sum(nbytes(case)), "each layer once"),
        Budget(HELD, two_layers, "two layers and what they compute", advice="Let go of what has been computed."),
    ),
    economise=order, footprint=footprint,
)  # fmt: skip
