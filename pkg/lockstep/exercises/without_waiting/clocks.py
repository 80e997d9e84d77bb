"""Runs of a parameter server whose gradients count: what is handed in, and what was seen, as evidence for rules."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.evidence_rules import Evidence
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.wording import counted, listed
from lockstep.exercises.without_waiting.vector_clock import Counting, Step, after, of_ranks, of_steps, updates

RATE = 0.5
UNIT = 50  # ms of a gradient; on the virtual cluster virtual ones, that pass at once


def case_of(ranks: int, seed: int, group: tuple[int, ...] | None = None, **settings: Any) -> Case:
    """``steps`` and ``units``: how many steps worker 1, 2 … takes, and for how long it computes a gradient."""
    settings = {**{"bound": 0, "dtype": "float32", "trivial": ranks == 1}, **settings}
    told = [f"the group {list(group)} of {ranks} ranks" if group else counted(ranks, "rank")]
    if ranks > 1:
        told += [f"bound={settings['bound']:,}", f"{listed(settings['steps'])} steps"]
    if any(settings["units"]):
        told.append(f"gradients that take {listed([UNIT * n for n in settings['units']])} ms")
    return Case(ranks, seed, group, settings | {"told": ", ".join(told)})


def start(case: Case) -> Tensor:
    """w to begin with: numbers that need their dtype."""
    rows = max(2, case.size - 1)  # one for each worker; a w of one row would take a flat gradient, too
    w = torch.randint(-4000, 4000, (rows, 3), generator=generator(case, -1)) / 4
    return w.double() + 2.0**40 if case.settings["dtype"] == "float64" else w


def inputs(case: Case, rank: int) -> tuple[Counting, Tensor, int | None, float, int]:
    seat, w = case.members.index(rank) if rank in case.members else 0, start(case)
    units, steps = [0, *case.settings["units"]][seat], [None, *case.settings["steps"]][seat]
    return Counting(w, RATE, seat, UNIT / 1000 * units), w, steps, RATE, case.settings["bound"]


def last(case: Case) -> Tensor:
    """w with all updates."""
    return after(start(case), case.settings["steps"], RATE)


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
    return {"w": plain(fn(*arguments)), "asked": plain(arguments[0].asked)}


def given(seen: Seen) -> list[list[Step]]:
    """The steps of each member, with the clock of the w that it was given."""
    rows, workers = [seen.returned[rank]["asked"] for rank in seen.case.members], seen.case.size - 1
    return [
        [Step(step, begin, end, clock[:workers], intact) for step, begin, end, clock, intact in of_rank]
        for of_rank in rows
    ]


def whole(seen: Seen, w: Tensor) -> list[Evidence]:
    """Of each member."""
    return list(
        of_ranks(given(seen), seen.case.settings["steps"], updates(start(seen.case), w, RATE)[: seen.case.size - 1])
    )


def stepwise(seen: Seen) -> list[Evidence]:
    """Of each step. Who waits for whom is seen where nothing takes time but gradients."""
    pause = UNIT / 2000 if seen.trace.world == "virtual" else math.inf
    return list(of_steps(given(seen)[1:], seen.case.settings["bound"], pause))
