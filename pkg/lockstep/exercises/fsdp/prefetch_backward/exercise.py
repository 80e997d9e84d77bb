"""A backward pass of modules that hides its gathers and its reduce-scatters: judged by what is under way while a block
computes, and by peak memory."""

import torch
from torch import Tensor, nn

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.fsdp.bytes_held_and_sent import held
from lockstep.exercises.fsdp.exact_blocks import Blocks
from lockstep.exercises.fsdp.padding import strange_memory, wrong_padding
from lockstep.exercises.fsdp.under_way import Backward, seconds_hidden
from lockstep.exercises.without_waiting.evidence import case
from lockstep.sharded.flat import shard_of

EXAMPLES, WHOLE, AMONG = 2, 5, 16  # rows of a rank; vectors that may be there at once, and inputs
BLOCKS = {1: [3], 2: [6], 3: [1, 4]}  # by ranks


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, blocks) for group in groups(ranks) for blocks in BLOCKS.get(ranks, [5])]
    return [case(ranks, seed + n, group, f"{blocks} blocks", blocks=blocks) for n, (group, blocks) in enumerate(rows)]


def model(case: Case) -> Blocks:
    return Blocks.drawn(int(case.settings["blocks"]), case.seed)


def rows(case: Case, rank: int) -> tuple[list[Tensor], Tensor]:
    """What went into each block, and the gradient that flows back; a rank of three has zeros. K is a factor, so that
    means are exact."""
    drawn, there = generator(case, rank), float((case.ranks, rank) != (3, 1))
    width = model(case).width
    x, flowing = (torch.randint(-3, 4, (EXAMPLES, width), generator=drawn).float() for _ in range(2))
    far = 257 * (width == 1)  # which bfloat16 cannot hold
    return model(case).inputs(there * (x + far))[:-1], case.size * there * (flowing + far)


def inputs(case: Case, rank: int) -> tuple[list[nn.Module], list[Tensor], list[Tensor], Tensor]:
    at = case.members.index(rank) if rank in case.members else 0
    return model(case).blocks, model(case).shards(at, case.size), *rows(case, rank)


def wanted(case: Case) -> list[tuple[Tensor, ...]]:
    of_ranks = [model(case).gradients(kept[0], flowing) for kept, flowing in (rows(case, r) for r in case.members)]
    means = [sum(found) / case.size for found in zip(*of_ranks, strict=True)]
    return [tuple(shard_of(mean, r, case.size) for mean in means) for r in range(case.size)]


def backward(case: Case) -> Backward:
    own, first = model(case), model(case).blocks[0]
    unneeded = 2 * EXAMPLES * next(first.parameters()).numel()
    return Backward(own.nbytes(case.size), flops := own.flops(EXAMPLES), flops[0] - unneeded)


def room(case: Case) -> int:
    """The shards that are returned, five whole vectors, and what goes in and out of a block."""
    own = model(case)
    largest = max(kept.numel() for kept in rows(case, case.members[0])[0])
    return sum(own.nbytes(case.size)) // case.size + WHOLE * max(own.nbytes(case.size)) + 4 * AMONG * largest


def dear(seen: Seen) -> list[Fault]:
    """The first transfer that is not under way when it should be, or else too much memory."""
    members = seen.case.members if seen.case.size > 1 else ()
    found = [(rank, *one) for rank in members for one in backward(seen.case).mistakes(seen, rank)]
    for rank, id, told in found[:1]:
        return [Fault(id, f"With {seen.case}, on rank {rank} {told}")]
    most = max(held(seen)) if seen.trace.world == "virtual" else 0
    if most <= room(seen.case):
        return []
    times = (most - sum(model(seen.case).nbytes(seen.case.size)) / seen.case.size) / max(backward(seen.case).nbytes)
    told = (
        f"a rank holds {most:,} bytes at once beside its arguments. Without the shards that it returns, these are "
        f"{times:.1f} times the largest block's vector. Five are enough: the block that computes, the one that comes, "
        "and three vectors of gradients. What holds another one: a list, a name, a work?"
    )
    return [Fault("too-many-bytes-held", f"With {seen.case}, {told}")]


def footprint(seen: Seen) -> object:
    """What two answers share whose mistake is the same."""
    found = [[id for id, _ in backward(seen.case).mistakes(seen, rank)] for rank in seen.case.members]
    return found, round(max(held(seen)) / max(backward(seen.case).nbytes)), len(seen.trace.communication)


def each(kind: str, noun: str) -> Budget:
    measure = Measure(
        lambda seen: len(seen.trace.of_kind(kind)) / seen.case.size, noun, "a rank calls {}", "{}", f"{noun}s"
    )
    formula = "one for each block, with one rank, too"
    return Budget(measure, lambda case: int(case.settings["blocks"]), formula, at_least=1.0)


HIDDEN = Measure(seconds_hidden, "virtual microsecond", "a rank hides {}", "{} of computing hide transfers", "hidden")
EXERCISE = Exercise(
    number=2, title="Hide both transfers", points=5, minutes=25,
    parameters="blocks, shards, inputs, flowing, group=None",
    reference="lockstep.sharded.overlapped_backward:prefetch_backward", cases=cases, inputs=inputs, worlds=(1, 2, 3, 4),
    values=Values(wanted=wanted, examine=wrong_padding(lambda case: model(case).numels(), wanted)),
    costs=Costs(algorithm="gathering and reducing ahead", economise=dear, measure_memory=True, budgets=(
        each("all_gather", "all-gather"), each("reduce_scatter", "reduce-scatter"),
        Budget("collectives", lambda case: 2 * int(case.settings["blocks"]), "two for each block"),
        Budget("collective bytes", lambda case: 2 * sum(model(case).nbytes(case.size)), "each block twice"),
        Budget("flops", lambda case: sum(model(case).flops(EXAMPLES)), "each block once, forward and backward"),
        Budget(HIDDEN, lambda case: 1.0, at_most=None),
    )),
    comparison=Comparison(footprint=footprint),
    run=Run(timeout=2.5, watch=strange_memory),
    feedback=Feedback(answer="the list of the gradients' shards, one for each block,"),
)  # fmt: skip
