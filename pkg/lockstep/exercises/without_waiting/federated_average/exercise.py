"""The server's step of federated averaging, in numbers that are exact in any order: a mean weighted by examples."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import torch

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.case import Case
from lockstep.checks.plain import plain
from lockstep.checks.rules import Evidence
from lockstep.without_waiting.federated import federated_average

# What is told, and the clients' examples, negative of those who drop out. Those of the others add up to a power of two.
CASES = {
    "clients with as many examples each": (4, 4, 4, 4),
    "clients with different numbers of examples": (1, 9, 4, 2),
    "a client that drops out": (3, -7, 12, 1),
    "clients of which most drop out": (-5, 2, -11, -3, 6, -1),
    "a client without examples": (0, 5, 3),
    "one client": (6,),
    "no client that comes back": (-4, -8),
    "clients without examples": (0, -2, 0),
}


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed + n, None, {"told": told, "trivial": told == "one client"}) for n, told in enumerate(CASES)]


def calls(case: Case) -> list[Call]:
    """Models are whole numbers, of one shape or another."""
    dice, drawn, numbers = Random(case.seed), torch.Generator().manual_seed(case.seed), [*CASES[case.settings["told"]]]
    dice.shuffle(numbers)
    shape = dice.choice([(3,), (2, 3), (), (4,)])
    w, *models = (torch.randint(-99, 100, shape, generator=drawn).double() for _ in range(len(numbers) + 1))
    back = [model if n >= 0 else None for model, n in zip(models, numbers, strict=True)]
    return [(w, back, [abs(n) for n in numbers])]


def tensors(call: Call) -> list[Any]:
    return [*call[1], call[0]]


def watch(fn: Callable[..., Any], call: Call) -> Evidence:
    given = copy.deepcopy(call)
    names = ["", *(f"models[{i}]" for i in range(len(call[1]))), "w"]
    return {"result": plain(fn(*given)), "name": "the mean", "names": names, "arrays": [None, *plain(tensors(given))]}


JUDGE = Arrays(
    calls,
    lambda call, *_: federated_average(*call),
    asked="a tensor",
    arguments=lambda call: (call, *tensors(call)),
)
EXERCISE = JUDGE.exercise(
    number=9, core=False, title="Federated averaging", points=2, minutes=10, parameters="w, models, examples",
    reference="lockstep.without_waiting.federated:federated_average", cases=cases, watch=watch, values=1.0,
)  # fmt: skip
