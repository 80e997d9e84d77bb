"""The server's step of federated averaging, a mean weighted by examples: in numbers that are exact in any order, and
in some that are not."""

import copy
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import torch

from lockstep.checks.arrays import Arrays, Call
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence
from lockstep.checks.exercise import Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number
from lockstep.checks.plain import plain
from lockstep.checks.wording import counted, listed
from lockstep.without_waiting.federated import federated_average

EQUAL = "clients with as many examples each"
NEAR = 1e-12
THIRDS = "a client that drops out"  # of which 15 examples are left: no share is exact
CASES = {  # the clients' examples, negative of those who drop out; those of others add up to a power of two elsewhere
    EQUAL: (4, 4, 4, 4),
    "clients with different numbers of examples": (1, 9, 4, 2),
    THIRDS: (3, -7, 11, 1),
    "clients of which most drop out": (-5, 2, -11, -3, 6, -1),
    "a client without examples": (0, 5, 3),
    "one client": (6,),
    "no client that comes back": (-4, -8),
    "clients without examples": (0, -2, 0),
}


def calls(case: Case) -> list[Call]:
    """Models are whole numbers, of one shape or another; a model of zeros is one, too."""
    dice, drawn, numbers = Random(case.seed), torch.Generator().manual_seed(case.seed), [*CASES[str(case)]]
    dice.shuffle(numbers)
    shape = () if "different" in str(case) else dice.choice([(3,), (2, 3), (4,)])
    small, large = (torch.randint(-99, 100, (len(numbers) + 1, *shape), generator=drawn).double() for _ in range(2))
    w, *models = small + large * 2**30  # which float32 cannot hold
    models[0].mul_(str(case) != EQUAL)
    models = [m.abs() if str(case) == THIRDS else m for m in models]  # so that nothing cancels
    return [(w, [m if n >= 0 else None for m, n in zip(models, numbers, strict=True)], [abs(n) for n in numbers])]


def watch(fn: Callable[..., Any], call: Call) -> Evidence:
    w, models, examples = copy.deepcopy(call)
    names, result = ["", *(f"models[{i}]" for i in range(len(models))), "w"], plain(fn(w, models, examples))
    return {"result": result, "name": "the mean", "names": names, "arrays": [None, *plain([*models, w])],
            "examples": examples}  # fmt: skip


def reported(evidence: Evidence, fault: Fault) -> Fault:
    """The fault with what the mean is made of, at the first wrong element."""
    (_, *models, w), examples = evidence["arrays"], evidence["examples"]
    off = ~torch.isclose(evidence["result"], federated_average(w, models, examples), rtol=NEAR, atol=NEAR)
    at = int(off.flatten().nonzero()[0])
    rows = [(m.flatten()[at].item(), n) for m, n in zip(models, examples, strict=True) if m is not None]
    said = listed([f"{number(value)} ({counted(n, 'example')})" for value, n in rows])
    there = f"The models that were reported hold {said} there" if rows else "No model was reported"
    return replace(fault, aside=f"{there}; w holds {number(w.flatten()[at].item())}.")


EXERCISE = Arrays(
    calls,
    lambda call, *_: federated_average(*call),
    asked="a tensor",
    arguments=lambda call: (call, *call[1], call[0]),
    tolerance=NEAR,
    remark=reported,
).exercise(
    number=9,
    core=False,
    title="Federated averaging",
    points=2,
    minutes=10,
    parameters="w, models, examples",
    reference="lockstep.without_waiting.federated:federated_average",
    cases=lambda ranks, seed: [
        Case(1, seed + n, None, {"told": t, "trivial": t == "one client"}) for n, t in enumerate(CASES)
    ],
    values=Values(share=1.0),
    run=Run(watch=watch),
)
