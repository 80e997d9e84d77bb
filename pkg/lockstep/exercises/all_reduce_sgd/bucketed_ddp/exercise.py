"""Hide the all-reduce behind the backward pass: gradients travel in buckets while earlier layers are worked on."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Costs, Exercise, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.measured_overlap import uncovered
from lockstep.checks.observation import Seen
from lockstep.exercises.all_reduce_sgd.gradients_in_buckets import badly_filled, out_of_order
from lockstep.exercises.all_reduce_sgd.networks import Loss, network, widths
from lockstep.exercises.communication.tensors import groups

EXAMPLES = 4
DEEP, SHALLOW = 10, 4  # linear layers
AWKWARD: Mapping[int, Mapping[str, Any]] = {
    2: {"layers": SHALLOW, "bucket_bytes": 300, "tied": True},
    3: {"layers": SHALLOW, "bucket_bytes": 1},
    4: {"layers": SHALLOW, "bucket_bytes": 10**6},
}


def cases(ranks: int, seed: int) -> list[Case]:
    """A deep network everywhere, with two layers in a bucket, and in a group that is not the world; by turns a matrix
    used twice, a bucket for each gradient, one for all; and equal layers, of which two fill a bucket to the byte."""
    parameters = sum(a * b + b for a, b in pairwise(widths(DEEP, seed)))
    deep = {"layers": DEEP, "bucket_bytes": 4 * 2 * parameters // DEEP}
    awkward = [AWKWARD[ranks]] if ranks in AWKWARD else []
    if ranks == 2:
        width = widths(SHALLOW, seed, equal=True)[0]
        awkward.append({"layers": SHALLOW, "bucket_bytes": 4 * 2 * (width * width + width), "full": True})
    return [Case(ranks, seed, group, deep) for group in groups(ranks)] + [Case(ranks, seed, None, a) for a in awkward]


def sizes_of(case: Case) -> list[int]:
    return widths(case.settings["layers"], case.seed, not {"tied", "full"}.isdisjoint(case.settings))


def model(case: Case) -> Loss:
    """The same on every rank."""
    return Loss(network(sizes_of(case), case.seed, "tied" in case.settings), case.size)


def inputs(case: Case, rank: int) -> tuple[Loss, Tensor, int]:
    """Where there are few layers, the batch has numbers that bfloat16 cannot hold; a rank of three has zeros."""
    batch = torch.randint(-2, 3, (EXAMPLES, sizes_of(case)[0]), generator=generator(case, rank)).float()
    batch *= 257 if case.settings["layers"] == SHALLOW else 1
    return model(case), batch * ((case.ranks, rank) != (3, 1)), case.settings["bucket_bytes"]


def wanted(case: Case) -> list[tuple[Tensor, ...]]:
    by_rank = []
    for rank in case.members:
        own, batch, _ = inputs(case, rank)
        by_rank.append(torch.autograd.grad(own(batch), list(own.parameters())))
    return [tuple(sum(of_ranks) / case.size for of_ranks in zip(*by_rank, strict=True))] * case.size


def nbytes(case: Case) -> list[int]:
    """Bytes of each gradient."""
    return [p.nbytes for p in model(case).parameters()]


def products(case: Case) -> int:
    """FLOPs of the forward pass, and twice as many of the backward pass; nobody asks for the batch's gradient."""
    each = [a * b for a, b in pairwise(sizes_of(case))]
    return 2 * EXAMPLES * (3 * sum(each) - each[0])


def late(seen: Seen) -> list[Fault]:
    """Where there are many layers, so that there is something to hide behind."""
    return uncovered("the backward pass")(seen) if seen.case.settings["layers"] == DEEP else badly_filled(seen)


EXERCISE = Exercise(
    number=4,
    title="Hide the all-reduce behind the backward pass",
    points=6,
    minutes=45,
    parameters="model, batch, bucket_bytes, group=None",
    reference="lockstep.data_parallel:bucketed_ddp",
    worlds=(1, 2, 3, 4),
    cases=cases,
    inputs=inputs,
    values=Values(
        wanted=wanted, examine=lambda seen: out_of_order(seen, wanted(seen.case)), may_change=["model.gradient"]
    ),
    costs=Costs(
        algorithm="DDP",
        budgets=(
            Budget(
                "collectives",
                lambda case: 2 * sum(nbytes(case)) // case.settings["bucket_bytes"] + 1,
                "2·N/bucket_bytes + 1",
            ),
            Budget(
                "largest collective",
                lambda case: case.settings["bucket_bytes"] + max(nbytes(case)),
                "bucket_bytes and a gradient",
                advice="Each bucket travels by itself.",
            ),
            Budget("collective bytes", lambda case: sum(nbytes(case)), "N", advice="Each gradient travels once."),
            Budget("flops", products, advice="One forward and one backward pass are enough."),
        ),
        economise=late,
    ),
    feedback=Feedback(answer="the list of the gradients, one for each parameter,"),
)
