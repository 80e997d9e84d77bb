"""Heads for positions and back: attention's values, what each rank attends to, and two all-to-alls."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import examine
from lockstep.checks.traffic import collectives
from lockstep.checks.wording import listed
from lockstep.exercises.hybrid.noted_attention import Attend, attention, observed
from lockstep.exercises.mixture_of_experts.observed_calls import rounded
from lockstep.exercises.mixture_of_experts.routed import HINTS, MOVED, OTHERS, REDUCED
from lockstep.exercises.without_waiting.evidence import alone, case, noting, results

Row = tuple[tuple[int, ...], int, int, int, tuple[int, ...] | None]  # lengths, H, G, d, group
TRIED: dict[int, list[Row]] = {
    1: [((5,), 4, 2, 3, None)],
    2: [((4, 4), 6, 2, 3, None), ((2, 5), 4, 4, 3, None)],
    3: [((4, 0, 3), 6, 3, 2, None), ((1, 2, 6), 12, 6, 4, None)],
    4: [((2, 3, 3, 1), 8, 4, 3, None), ((5, 2), 8, 2, 2, (1, 3))],
}
ALL = "`lengths` says how many positions each rank has. Does every rank call each all-to-all, also one without any?"
EMPTY = "A rank may have no positions, and then no -1 can be worked out: give each size itself."


def cases(ranks: int, seed: int) -> list[Case]:
    return [made(ranks, seed + n, *row) for n, row in enumerate(TRIED[ranks])]


def made(ranks: int, seed: int, lengths: tuple[int, ...], H: int, G: int, d: int, group: Any) -> Case:
    told = f"{listed(lengths)} positions", f"H={H}, G={G}, d={d}"
    return case(ranks, seed, group, *told, lengths=list(lengths), H=H, G=G, d=d)


def whole(case: Case) -> list[Tensor]:
    """q, k and v of all positions."""
    s, dice = case.settings, generator(case, -1)
    shapes = [(heads, sum(s["lengths"]), s["d"]) for heads in (s["H"], s["G"], s["G"])]
    return [torch.randn(shape, generator=dice, dtype=torch.float64) for shape in shapes]


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    r, lengths = case.members.index(rank) if rank in case.members else 0, case.settings["lengths"]
    q, k, v = (torch.split(x, lengths, 1)[r].clone() for x in whole(case))
    return q, k, v, Attend(), list(lengths)


def wanted(case: Case) -> list[Tensor]:
    return list(torch.split(attention(*whole(case)), case.settings["lengths"], 1))


def economise(seen: Seen) -> list[Fault]:
    """Attention in more than one call, or of what other ranks attend to."""
    s = seen.case.settings
    need = [s["H"] // seen.case.size, s["G"] // seen.case.size, sum(s["lengths"])]
    for rank in seen.case.members:
        if (calls := seen.returned[rank]["found"]) != [need]:
            told = [f"{h} and {g} heads, {T} positions" for h, g, T in calls]
            how = listed(told[:3]) if calls else "nothing: it isn't called"
            wish = f"It should be called once, with {need[0]} and {need[1]} heads and {need[2]} positions."
            return [Fault("wrong-calls", f"With {seen.case}: on rank {rank} attend gets {how}. {wish}", telling=True)]
    return []


def moved(case: Case) -> float:
    """As a trace counts it: of each rank the larger of what it gives and gets, forward and back."""
    s, T = case.settings, sum(case.settings["lengths"])
    each = [max(n, T / case.size) for n in s["lengths"]]
    return float(8 * s["d"] * (2 * s["H"] + 2 * s["G"]) * sum(each))


ASKED = Exercise(
    number=7, core=False, title="Heads for positions", points=4, minutes=30, worlds=tuple(TRIED), cases=cases,
    inputs=inputs, parameters="q, k, v, attend, lengths, group=None",
    reference="lockstep.context_parallel.ulysses:ulysses",
    values=Values(wanted=wanted, tolerance=1e-9, share=0.6),
    costs=Costs(algorithm="Ulysses", economise=economise, budgets=(
        Budget(OTHERS, lambda case: 0, advice="Everything travels by all-to-all."),
        Budget("collectives", lambda case: 2, advice="One all-to-all can carry queries, keys and values."),
        Budget("messages", lambda case: 2 * (case.size - 1)),
        Budget(MOVED, moved, "all of q, k, v and the result once"),
        Budget(REDUCED, lambda case: 0),
        Budget("barriers", lambda case: 0, advice="A collective says itself when it is done."),
    )),
    run=Run(timeout=2.5),
    feedback=Feedback(hints=[("crashed:Deadlock", ALL), ("crashed:Mismatch", ALL), ("cannot reshape", EMPTY), *HINTS]),
)  # fmt: skip
EXERCISE = replace(
    ASKED,
    values=replace(ASKED.values, wanted=None, examine=lambda seen: examine(ASKED)(alone(seen))),
    comparison=Comparison(
        alike=lambda seen: [rounded(held) for held in results(seen)],
        footprint=lambda seen: (
            [seen.returned[rank]["found"] for rank in seen.case.members],
            sorted((e.rank, e.kind, e.nbytes) for e in collectives(seen.trace)),
        ),
    ),
    run=replace(ASKED.run, watch=noting(observed)),
)
