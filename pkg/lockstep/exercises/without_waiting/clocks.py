"""Runs of a parameter server whose gradients count: what is handed in, and what was seen, as evidence for rules."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import DTYPES, Case, generator
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.rules import Evidence
from lockstep.checks.wording import counted, listed
from lockstep.without_waiting.vector_clock import Counting, Step, bounded, updates

RATE = 0.5
UNIT = 50  # ms of a gradient; on the virtual cluster virtual ones, that pass at once


def case_of(ranks: int, seed: int, group: tuple[int, ...] | None = None, **settings: Any) -> Case:
    """``steps`` and ``units``: of worker 1, 2 …, how many steps it takes, and for how long it computes each gradient."""
    settings = {"bound": 0, "dtype": "float32", "trivial": ranks == 1} | settings
    told = [f"the group {list(group)} of {ranks} ranks" if group else counted(ranks, "rank")]
    if ranks > 1:
        told += [f"bound={settings['bound']:,}", f"{listed(settings['steps'])} steps"]
    if any(settings["units"]):
        told.append(f"gradients that take {listed([UNIT * n for n in settings['units']])} ms")
    return Case(ranks, seed, group, settings | {"told": ", ".join(told)})


def start(case: Case) -> Tensor:
    """w to begin with: numbers that need their dtype."""
    w = torch.randint(-40, 40, (max(1, case.size - 1), 3), generator=generator(case, -1))
    dtype = DTYPES[case.settings["dtype"]]
    return w.to(dtype) / 4 + (2.0**40 if dtype == torch.float64 else 0)


def inputs(case: Case, rank: int) -> tuple[Counting, Tensor, int | None, float, int]:
    seat, w = case.members.index(rank) if rank in case.members else 0, start(case)
    units, steps = ([0, *case.settings["units"]][seat], [None, *case.settings["steps"]][seat])
    return Counting(w, RATE, seat, UNIT / 1000 * units), w, steps, RATE, case.settings["bound"]


def last(case: Case) -> Tensor:
    """w with all updates."""
    sums = torch.tensor([[n, n * (n - 1) / 2, 0] for n in case.settings["steps"] or [0]])
    return start(case) - RATE * sums.to(start(case).dtype)


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
    return {"w": plain(fn(*arguments)), "asked": plain(arguments[0].asked)}


def asked(seen: Seen) -> list[list[Step]]:
    """The gradients that each member has computed."""
    return [[Step(*row) for row in seen.returned[rank]["asked"]] for rank in seen.case.members]


def clocks(seen: Seen) -> list[Any]:
    """What the server returns, and what workers began their steps with."""
    return [seen.returned[seen.case.members[0]]["w"], *([s.clock for s in steps] for steps in asked(seen))]


def of_ranks(seen: Seen, w: Tensor) -> list[Evidence]:
    """Of each member: the steps that it takes, those of which it asked for the gradient, and how many w has."""
    rows = zip([0, *seen.case.settings["steps"]], asked(seen), [0, *updates(start(seen.case), w, RATE)], strict=True)
    return [
        {"who": who, "steps": steps, "takes": counted(steps, "step"), "asked": [int(s.step) for s in calls], "have": n}
        for who, (steps, calls, n) in enumerate(rows)
    ]


def of_steps(seen: Seen) -> list[Evidence]:
    """Of each step. Who waits for whom is seen where nothing takes time but gradients."""
    pause = UNIT / 2000 if seen.trace.world == "virtual" else math.inf
    found = bounded(asked(seen)[1:], seen.case.settings["bound"], pause)
    return [{**facts, "far": counted(int(facts["done"]), "step")} for facts in found]
