"""The server's step of federated averaging, in numbers that are exact in any order: a mean weighted by examples."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import torch

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence
from lockstep.checks.plain import plain
from lockstep.without_waiting.federated import federated_average

CASES = {  # the clients' examples, negative of those who drop out; those of the others add up to a power of two
    "clients with as many examples each": (4, 4, 4, 4),
    "clients with different numbers of examples": (1, 9, 4, 2),
    "a client that drops out": (3, -7, 12, 1),
    "clients of which most drop out": (-5, 2, -11, -3, 6, -1),
    "a client without examples": (0, 5, 3),
    "one client": (6,),
    "no client that comes back": (-4, -8),
    "clients without examples": (0, -2, 0),
}


def calls(case: Case) -> list[Call]:
    """Models are whole numbers, of one shape or another."""
    dice, drawn, numbers = Random(case.seed), torch.Generator().manual_seed(case.seed), [*CASES[str(case)]]
    dice.shuffle(numbers)
    shape = dice.choice([(3,), (2, 3), (), (4,)])
    w, *models = (torch.randint(-99, 100, shape, generator=drawn).double() for _ in range(len(numbers) + 1))
    return [(w, [m if n >= 0 else None for m, n in zip(models, numbers, strict=True)], [abs(n) for n in numbers])]


def watch(fn: Callable[..., Any], call: Call) -> Evidence:
    w, models, examples = copy.deepcopy(call)
    names, result = ["", *(f"models[{i}]" for i in range(len(models))), "w"], plain(fn(w, models, examples))
    return {"result": result, "name": "the mean", "names": names, "arrays": [None, *plain([*models, w])]}


EXERCISE = Arrays(
    calls, lambda call, *_: federated_average(*call), asked="a tensor", arguments=lambda call: (call, *call[1], call[0])
).exercise(
    number=9, core=False, title="Federated averaging", points=2, minutes=10, parameters="w, models, examples",
    reference="lockstep.without_waiting.federated:federated_average", watch=watch, values=1.0,
    cases=lambda ranks, seed: [Case(1, seed + n, None, {"told": t, "trivial": t == "one client"})
                               for n, t in enumerate(CASES)],
)  # fmt: skip
