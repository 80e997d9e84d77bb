"""A sum of which nobody sees the parts. What a rank hands to its all-reduce is looked at, beside what it returns."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import compare
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.without_waiting.handed import MaskThere, observed, shown
from lockstep.without_waiting.masked import M, shared_secrets

SHAPES = {2: (3,), 3: (2, 3)}  # by ranks


def cases(ranks: int, seed: int) -> list[Case]:
    shape = SHAPES.get(ranks, (5,))
    return [Case(ranks, seed + n, group, {"shape": shape}) for n, group in enumerate(groups(ranks))]


def value(case: Case, rank: int) -> Tensor:
    return torch.randint(0, M, case.settings["shape"], generator=generator(case, rank))


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    secrets = shared_secrets(case.size, case.seed % 2**32)
    seat = case.members.index(rank) if rank in case.members else 0
    return value(case, rank), secrets[seat], MaskThere(tuple(case.settings["shape"]))


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    result, handed = observed(fn, arguments)
    return {"result": plain(result), "handed": plain(handed)}


def examine(seen: Seen) -> Fault | None:
    """What leaves a rank first, then the sum. Alone there is nobody to hide from."""
    for rank in seen.case.members if seen.case.size > 1 else ():
        own, secrets, mask = inputs(seen.case, rank)
        masks = [mask(secret) for secret in secrets if secret is not None]
        if found := shown(own, seen.returned[rank]["handed"], masks, M):
            return Fault(found[0], f"With {seen.case}: rank {rank} {found[1]}")
    wanted = torch.stack([value(seen.case, rank) for rank in seen.case.members]).sum(0) % M
    return compare(seen, results(seen), [wanted] * seen.case.size)


def results(seen: Seen) -> list[Any]:
    return [seen.returned[rank]["result"] for rank in seen.case.members]


def out_of_range(seen: Seen) -> list[Fault]:
    for rank in seen.case.members:
        numbers = torch.cat([tensor.flatten() for tensor in seen.returned[rank]["handed"]]).tolist()
        if off := [number for number in numbers if not 0 <= number < M]:
            told = f"hands {off[0]:,} to the all-reduce. That tells something about the value: reduce it modulo 2**32"
            return [Fault("out-of-range", f"But with {seen.case}: rank {rank} {told} before.")]
    return []


EXERCISE = Exercise(
    number=10, core=False, title="A sum of secrets", points=3, minutes=20,
    parameters="value, secrets, mask, group=None", reference="lockstep.without_waiting.masked:masked_sum",
    cases=cases, inputs=inputs, watch=watch, examine=examine, alike=results, kept=True, values=0.75,
    economise=out_of_range, budgets=all_reduces(lambda case: value(case, 0).nbytes), worlds=(1, 2, 3, 4), seconds=2.5,
)  # fmt: skip
