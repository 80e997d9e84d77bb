"""The server's step of federated averaging, in numbers that are exact in any order: a mean weighted by examples."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import torch

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.case import Case
from lockstep.checks.plain import plain
from lockstep.checks.rules import Evidence, Rule
from lockstep.without_waiting.federated import federated_average

# What is told, and the clients' examples; of those who drop out they are negative here.
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
SHAPES = ((3,), (2, 3), (), (4,))


def calls(case: Case) -> list[Call]:
    """Models of small whole numbers; the examples of those who come back add up to a power of two, or to 6 of one."""
    dice, drawn = Random(case.seed), torch.Generator().manual_seed(case.seed)
    shape, numbers = dice.choice(SHAPES), list(CASES[case.settings["told"]])
    dice.shuffle(numbers)
    models = [torch.randint(-99, 100, shape, generator=drawn).double() for _ in range(len(numbers) + 1)]
    back = [model if n >= 0 else None for model, n in zip(models[1:], numbers, strict=True)]
    return [(models[0], back, [abs(n) for n in numbers])]


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed + n, None, {"told": told, "trivial": told == "one client"}) for n, told in enumerate(CASES)]


def with_w_last(call: Call) -> Call:
    w, models, examples = call
    return models, examples, w


def watch(fn: Callable[..., Any], call: Call) -> Evidence:
    given = copy.deepcopy(call)
    result = plain(fn(*given))
    before, after = ([w, *models] for w, models, _ in (call, given))
    rows = zip(["w", *(f"models[{i}]" for i in range(len(call[1])))], before, after, strict=True)
    spoilt = [name for name, a, b in rows if a is not None and not torch.equal(a, b)]
    return {"result": result, "name": "the mean", "spoilt": (spoilt or [""])[0]}


SPOILT = Rule(
    "changes-arguments", lambda e: e["spoilt"], "it changes {spoilt}. Leave the models as they were.", telling=True
)

EXERCISE = Arrays(
    calls,
    lambda models, examples, w: federated_average(w, models, examples),
    [SPOILT],
    asked="a tensor",
    arguments=with_w_last,
).exercise(
    number=9,
    core=False,
    title="Federated averaging",
    points=2,
    minutes=10,
    parameters="w, models, examples",
    reference="lockstep.without_waiting.federated:federated_average",
    cases=cases,
    watch=watch,
    values=1.0,
)
