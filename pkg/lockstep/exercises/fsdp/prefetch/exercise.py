"""Gather the next layer while this one computes: judged by what is computed during each gather, and by peak memory."""

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.measured_overlap import beside
from lockstep.checks.observation import Seen
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.fsdp.bytes_held_and_sent import held
from lockstep.exercises.fsdp.whole_numbers import WIDEST, Exact
from lockstep.exercises.without_waiting.evidence import case
from lockstep.sharded.layers import Dense

EXAMPLES = 2
LAYERS = {1: [3], 2: [6], 3: [1, 5]}  # by ranks


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, layers) for group in groups(ranks) for layers in LAYERS.get(ranks, [5])]
    return [case(ranks, seed + n, group, layers=layers) for n, (group, layers) in enumerate(rows)]


def layers(case: Case) -> int:
    return int(case.settings["layers"])


def model(case: Case) -> Exact:
    return Exact.drawn(layers(case), case.seed)


def batch(case: Case, rank: int) -> Tensor:
    """A rank of three has zeros."""
    x = torch.randint(-2, 3, (EXAMPLES, model(case).layers[0].inputs), generator=generator(case, rank))
    return x.float() * ((case.ranks, rank) != (3, 1)) * (257 if layers(case) == 1 else 1)


def inputs(case: Case, rank: int) -> tuple[list[Dense], list[Tensor], Tensor]:
    at = case.members.index(rank) if rank in case.members else 0
    return model(case).layers, model(case).shards(at, case.size), batch(case, rank)


def wanted(case: Case) -> list[Tensor]:
    return [model(case).output(batch(case, rank)) for rank in case.members]


def mistakes(seen: Seen, rank: int) -> Iterator[tuple[str, str]]:
    """What is wrong with each gather after the first, by the FLOPs before it and during it."""
    events, products = seen.trace.of_rank(rank), model(seen.case).products(EXAMPLES)
    computing = [e for e in events if e.kind == "compute" and e.flops]
    moving = [e for e in events if e.kind not in ("compute", "barrier")]
    for i, ((last, now), flops) in enumerate(zip(pairwise(moving), products, strict=False)):
        done, before = sum(products[:i]), sum(c.flops for c in computing if c.posted < now.posted)
        early = before < done if computing else beside(now, computing) > flops
        rows = (
            (
                before > done,
                "starts-too-late",
                f"starts when layer {i} computes already, or later: post it before.",
            ),
            (beside(now, computing) < flops, "waits-at-once", f"should travel while layer {i} computes, and does not."),
            (early, "starts-too-early", f"starts before layer {i - 1} has computed: then three are whole."),
            (now.posted < last.end, "starts-too-early", f"is posted before that of layer {i} has been waited for."),
        )
        yield from ((id, f"the gather of layer {i + 1} {told}") for wrong, id, told in rows if wrong)


def most(seen: Seen) -> int:
    """Bytes on the rank that holds the most; on processes gloo's threads let go of a vector when they come to it."""
    return max(held(seen)) if seen.trace.world == "virtual" else 0


def dear(seen: Seen) -> list[Fault]:
    """Too much memory, or else the wrong order."""
    enough = 2 * max(model(seen.case).nbytes(seen.case.size)) + 4 * EXAMPLES * (layers(seen.case) + 3) * WIDEST
    if most(seen) > enough:
        told = (
            f"a rank holds {most(seen):,} bytes at once beside its arguments. {enough:,} are two whole layers, and all "
            "that goes in and out of layers. Let go of a layer's vector before the next gather is posted."
        )
        return [Fault("too-many-bytes-held", f"With {seen.case}, {told}")]
    found = ((rank, *one) for rank in seen.case.members if seen.case.size > 1 for one in mistakes(seen, rank))
    return [Fault(id, f"With {seen.case}, on rank {rank} {told}") for rank, id, told in found][:1]


def footprint(seen: Seen) -> object:
    """What two answers share whose mistake is the same."""
    found = [list(mistakes(seen, rank)) for rank in seen.case.members]
    return found, round(most(seen) / max(model(seen.case).nbytes(seen.case.size))), len(seen.trace.communication)


GATHERS = Measure(
    lambda seen: len(seen.trace.of_kind("all_gather")) / seen.case.size,
    "all-gather", "a rank calls {}", "{}", "gathers",
)  # fmt: skip
EXERCISE = Exercise(
    number=5,
    core=False,
    title="Gather ahead",
    points=4,
    minutes=20,
    parameters="layers, shards, x, group=None",
    reference="lockstep.sharded.zero3:prefetch",
    cases=cases,
    inputs=inputs,
    worlds=(1, 2, 3, 4),
    values=Values(wanted=wanted),
    costs=Costs(
        algorithm="gathering ahead",
        economise=dear,
        measure_memory=True,
        budgets=(
            Budget("collectives", layers, "one for each layer"),
            Budget(GATHERS, layers, "one for each layer, with one rank, too", at_most=None, at_least=1.0),
            Budget("collective bytes", lambda case: sum(model(case).nbytes(case.size)), "each layer once"),
        ),
    ),
    comparison=Comparison(footprint=footprint),
    run=Run(timeout=2.5),
)
