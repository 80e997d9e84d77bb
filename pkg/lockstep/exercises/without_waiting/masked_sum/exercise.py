"""Secure aggregation: a sum whose parts nobody sees. Judged by what leaves a rank, and by what it returns."""

import re
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import noting, results
from lockstep.exercises.without_waiting.leaks import (
    MaskThere,
    adds_up,
    observed,
    once_each,
    out_of_range,
    shown,
    told_elsewhere,
)
from lockstep.without_waiting.mask import M
from lockstep.without_waiting.secure_aggregation import shared_secrets

PRINTS = (
    "But it prints numbers, and whoever reads them may learn from them what the value is. Here nothing may leave "
    "a rank but what it hands to dist.all_reduce: take the print out."
)
OTHERWISE = (
    "hands something else to the all-reduce than its value with each of its masks added or taken off, once, modulo "
    "2**32. What is made of the masks in another way need not hide all of the value."
)
CANCEL = {
    True: "What the ranks hand to the all-reduce adds up to the right sum, modulo 2**32: look at what comes after it.",
    False: "What the ranks hand to the all-reduce does not add up to the sum of their values, modulo 2**32. Masks "
    "cancel if of two ranks that share one, one adds it and the other takes it off.",
    None: "",
}


def value(case: Case, rank: int) -> Tensor:
    """A rank of three has zeros."""
    shape = {2: (3,), 3: (2, 3)}.get(case.ranks, (5,))
    return torch.randint(0, M, shape, generator=generator(case, rank)) * ((case.ranks, rank) != (3, 1))


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    seat = case.members.index(rank) if rank in case.members else 0
    own = value(case, rank)
    secrets = shared_secrets(case.size, case.seed % 2**32)[seat]
    if case.settings["zero"] and seat < 2:
        secrets[1 - seat] = 0  # of ranks 0 and 1: a number as any other
    return own, secrets, MaskThere(tuple(own.shape))


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
    fault = compare(seen, results(seen), [wanted] * seen.case.size)
    if seen.case.size == 1 or (fault and fault.misconception != "wrong-values"):
        return fault
    handed = [seen.returned[rank]["found"]["reduced"] for rank in seen.case.members]
    if fault:
        return replace(fault, aside=CANCEL[adds_up(handed, wanted, M)])
    return otherwise(seen)


def otherwise(seen: Seen) -> Fault | None:
    """Of a rank that hands over something else than its value with each mask once, added or taken off."""
    for rank in seen.case.members:
        own, secrets, mask = inputs(seen.case, rank)
        masks = [mask(secret) for secret in secrets if secret is not None]
        if not once_each(own, seen.returned[rank]["found"]["reduced"], masks, M):
            return Fault("other-masks", f"With {seen.case}: rank {rank} {OTHERWISE}", telling=True)
    return None


def careless(seen: Seen) -> list[Fault]:
    found = {rank: out_of_range(seen.returned[rank]["found"]["reduced"], M) for rank in seen.case.members}
    faults = [Fault(off[0], f"But with {seen.case}: rank {rank} {off[1]}") for rank, off in found.items() if off]
    return [
        *faults,
        *([Fault("prints-numbers", PRINTS)] if seen.case.size > 1 and re.search(r"\d", seen.printed) else []),
    ][:1]


NO_BARRIER = Budget("barriers", lambda case: 0, advice="An all-reduce waits for all ranks as it is.")
EXERCISE = Exercise(
    number=10,
    core=False,
    title="A sum of secrets",
    points=3,
    minutes=20,
    worlds=(1, 2, 3, 4),
    parameters="value, secrets, mask, group=None",
    reference="lockstep.without_waiting.secure_aggregation:masked_sum",
    cases=lambda ranks, seed: [
        Case(ranks, seed + n, group, {"zero": ranks == 3}) for n, group in enumerate(groups(ranks))
    ],
    inputs=inputs,
    values=Values(examine=examine, share=0.75),
    costs=Costs(economise=careless, budgets=(*all_reduces(lambda case: value(case, 0).nbytes), NO_BARRIER)),
    comparison=Comparison(alike=results),
    run=Run(timeout=2.5, watch=noting(observed)),
)
