"""A sum of which nobody sees the parts. What a rank hands to its all-reduce is looked at, beside what it returns."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import compare
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.without_waiting.masked import M, Mask, shared_secrets

SHAPES = {2: (3,), 3: (2, 3)}  # by ranks
SECRET = "Add to it, or take off, masks that only you and one other rank know."


def cases(ranks: int, seed: int) -> list[Case]:
    shape = SHAPES.get(ranks, (5,))
    return [Case(ranks, seed + n, group, {"shape": shape}) for n, group in enumerate(groups(ranks))]


def value(case: Case, rank: int) -> Tensor:
    return torch.randint(0, M, case.settings["shape"], generator=generator(case, rank))


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    secrets = shared_secrets(case.size, case.seed % 2**32)
    seat = case.members.index(rank) if rank in case.members else 0
    return value(case, rank), secrets[seat], Mask(tuple(case.settings["shape"]))


class Handed(TorchFunctionMode):
    """Copies of what is given to dist.all_reduce."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "all_reduce":
            self.tensors.append(args[0].detach().cpu().clone())
        return func(*args, **(kwargs or {}))


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    with Handed() as handed:
        result = fn(*arguments)
    return {"result": plain(result), "handed": plain(handed.tensors)}


def examine(seen: Seen) -> Fault | None:
    """What leaves a rank first, then the sum."""
    found = [shown(seen, rank) for rank in seen.case.members] if seen.case.size > 1 else []
    wanted = torch.stack([value(seen.case, rank) for rank in seen.case.members]).sum(0) % M
    return next(filter(None, found), None) or compare(seen, results(seen), [wanted] * seen.case.size)


def results(seen: Seen) -> list[Any]:
    return [seen.returned[rank]["result"] for rank in seen.case.members]


def shown(seen: Seen, rank: int) -> Fault | None:
    own, handed = value(seen.case, rank).flatten(), seen.returned[rank]["handed"]
    about = f"With {seen.case}: rank {rank}"
    if not handed:
        return Fault("no-all-reduce", f"{about} hands nothing to dist.all_reduce: let that add up.")
    for piece in pieces(handed, len(own)):
        added = (piece - own) % M
        if (added == 0).any():
            return Fault("shows-value", f"{about} hands its value to the all-reduce so that it can be read. {SECRET}")
        if (added == added[0]).all():
            told = (
                "adds one number to all elements of its value: their differences show. mask(secret) has one for each."
            )
            return Fault("same-for-all-elements", f"{about} {told}")
    return None


def pieces(handed: list[Tensor], n: int) -> Iterator[Tensor]:
    """All that is handed over, in pieces as long as the value; and the difference of any two."""
    whole = [piece for tensor in handed for piece in tensor.flatten().long().split(n) if len(piece) == n]
    yield from whole
    yield from (sign * (a - b) for a, b in combinations(whole, 2) for sign in (1, -1))


def out_of_range(seen: Seen) -> list[Fault]:
    for rank in seen.case.members:
        for tensor in seen.returned[rank]["handed"]:
            if off := [number for number in tensor.flatten().tolist() if not 0 <= number < M]:
                told = (
                    f"hands {off[0]:,} to the all-reduce, which tells something about the value: take it modulo 2**32"
                )
                return [Fault("out-of-range", f"With {seen.case}: rank {rank} {told} before.")]
    return []


EXERCISE = Exercise(
    number=10,
    core=False,
    title="A sum of which nobody sees the parts",
    points=3,
    minutes=20,
    parameters="value, secrets, mask, group=None",
    reference="lockstep.without_waiting.masked:masked_sum",
    cases=cases,
    inputs=inputs,
    watch=watch,
    examine=examine,
    alike=results,
    kept=True,
    economise=out_of_range,
    budgets=all_reduces(lambda case: value(case, 0).nbytes),
    worlds=(1, 2, 3, 4),
    values=0.75,
    seconds=2.5,
)
