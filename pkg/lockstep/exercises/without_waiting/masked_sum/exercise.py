"""A sum of which nobody sees the parts. What leaves a rank is looked at, beside what it returns."""

from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import noting, results
from lockstep.exercises.without_waiting.leaks import (
    MaskThere,
    large_numbers,
    observed,
    out_of_range,
    shown,
    told_elsewhere,
)
from lockstep.without_waiting.mask import M
from lockstep.without_waiting.masked import shared_secrets

PRINTS = (
    "But it prints large numbers, and whoever reads them may learn from them what the value is. Here nothing may leave "
    "a rank but what it hands to dist.all_reduce: take the print out."
)


def value(case: Case, rank: int) -> Tensor:
    shape = {2: (3,), 3: (2, 3)}.get(case.ranks, (5,))
    return torch.randint(0, M, shape, generator=generator(case, rank))


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    seat = case.members.index(rank) if rank in case.members else 0
    own = value(case, rank)
    return own, shared_secrets(case.size, case.seed % 2**32)[seat], MaskThere(tuple(own.shape))


def examine(seen: Seen) -> Fault | None:
    """What leaves a rank first, then the sum. Alone there is nobody to hide from."""
    for rank in seen.case.members if seen.case.size > 1 else ():
        own, secrets, mask = inputs(seen.case, rank)
        known = [secret for secret in secrets if secret is not None]
        left = seen.returned[rank]["found"]
        masks = [mask(secret) for secret in known]
        found = told_elsewhere([*own.flatten().tolist(), *known], left["sent"], seen.printed, left["files"])
        if found := found or shown(own, left["reduced"], masks, M):
            return Fault(found[0], f"With {seen.case}: rank {rank} {found[1]}")
    wanted = torch.stack([value(seen.case, rank) for rank in seen.case.members]).sum(0) % M
    return compare(seen, results(seen), [wanted] * seen.case.size)


def careless(seen: Seen) -> list[Fault]:
    found = {rank: out_of_range(seen.returned[rank]["found"]["reduced"], M) for rank in seen.case.members}
    faults = [Fault(off[0], f"But with {seen.case}: rank {rank} {off[1]}") for rank, off in found.items() if off]
    return [
        *faults,
        *([Fault("prints-numbers", PRINTS)] if seen.case.size > 1 and large_numbers(seen.printed) else []),
    ][:1]


EXERCISE = Exercise(
    number=10, core=False, title="A sum of secrets", points=3, minutes=20, worlds=(1, 2, 3, 4), seconds=2.5,
    parameters="value, secrets, mask, group=None", reference="lockstep.without_waiting.masked:masked_sum",
    cases=lambda ranks, seed: [Case(ranks, seed + n, group) for n, group in enumerate(groups(ranks))], inputs=inputs,
    watch=noting(observed), examine=examine, alike=results, kept=True, values=0.75, economise=careless,
    budgets=all_reduces(lambda case: value(case, 0).nbytes),
)  # fmt: skip
