"""Gather the next layer while this one computes: judged by what is computed beside each gather, and by the peak."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
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
from lockstep.events import Event
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


def mistakes(seen: Seen, rank: int) -> Iterator[tuple[str, str]]:
    """Of a rank's order: what is wrong with each gather after the first, by the FLOPs before it and beside it."""
    events = seen.trace.of_rank(rank)
    computing = [e for e in events if e.kind == "compute" and e.flops]
    moving = [e for e in events if e.kind not in ("compute", "barrier")]
    products = [2 * EXAMPLES * layer.inputs * layer.outputs for layer in model(seen.case)]
    for i, ((last, now), flops) in enumerate(zip(pairwise(moving), products, strict=False)):
        done, before, meanwhile = sum(products[:i]), *(f(now, computing) for f in (started_before, beside))
        early = before < done if computing else meanwhile > flops
        rows = (
            (
                before > done,
                "starts-too-late",
                f"starts when layer {i} is already computing, or later: post it before.",
            ),
            (meanwhile < flops, "waits-at-once", f"should travel while layer {i} computes, and does not."),
            (early, "starts-too-early", f"starts before layer {i - 1} has computed: then three are whole."),
            (now.posted < last.end, "starts-too-early", f"is posted before that of layer {i} has been waited for."),
        )
        yield from ((id, f"the gather of layer {i + 1} {told}") for wrong, id, told in rows if wrong)


def started_before(transfer: Event, computing: Sequence[Event]) -> int:
    """FLOPs."""
    return sum(c.flops for c in computing if c.posted < transfer.posted)


def held(seen: Seen) -> int:
    """Bytes on the rank that holds the most; on processes gloo's threads let go of a vector when they come to it."""
    most = max(seen.returned[rank]["found"] for rank in seen.case.members)
    return most if seen.trace.world == "virtual" else 0


def dear(seen: Seen) -> list[Fault]:
    """Too much memory, or else the wrong order."""
    if held(seen) > (enough := two_layers(seen.case)):
        told = (
            f"a rank holds {held(seen):,} bytes at once beside its arguments. {enough:,} are two layers and what they "
        )
        return [Fault("too-many-bytes-held", f"With {seen.case}, {told}compute. Let go of what has been computed.")]
    found = ((rank, *one) for rank in seen.case.members if seen.case.size > 1 for one in mistakes(seen, rank))
    return [Fault(id, f"With {seen.case}, on rank {rank} {told}") for rank, id, told in found][:1]


def footprint(seen: Seen) -> object:
    """What two answers share whose mistake is the same."""
    found = [list(mistakes(seen, rank)) for rank in seen.case.members]
    return found, round(held(seen) / max(nbytes(seen.case))), len(seen.trace.communication)


def layers(case: Case) -> int:
    return int(case.settings["layers"])


GATHERS = Measure(
    lambda seen: len(seen.trace.of_kind("all_gather")) / seen.case.size,
    "all-gather",
    "a rank calls {}",
    "{}",
    "gathers",
)
EXERCISE = Exercise(
    number=2, title="Gather ahead", points=4, minutes=20, parameters="layers, shards, x, group=None",
    reference="lockstep.sharded.prefetching:prefetch", cases=cases, inputs=inputs, worlds=(1, 2, 3, 4),
    watch=noting(held_beside), examine=examine, alike=results, kept=True, of="gathering ahead", seconds=2.5,
    budgets=(
        Budget("collectives", layers, "one for each layer"),
        Budget(GATHERS, layers, at_most=None, at_least=1.0),
        Budget("collective bytes", lambda case: sum(nbytes(case)), "each layer once"),
    ),
    economise=dear, footprint=footprint,
)  # fmt: skip
