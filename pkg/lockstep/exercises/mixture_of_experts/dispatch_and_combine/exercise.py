"""Tokens go to their experts and come back: judged by who found a place, by what came home, and by what travelled."""

from collections import Counter
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import examine
from lockstep.checks.traffic import collectives
from lockstep.checks.wording import counted
from lockstep.cost.experts import Loads
from lockstep.exercises.mixture_of_experts.noted_experts import Noted, coefficients, observed
from lockstep.exercises.mixture_of_experts.routed import HINTS, Tried, cases, count, exchanges, scores, seat
from lockstep.exercises.without_waiting.evidence import alone, noting, results

WIDTH, FLOAT = 3, 4
TRIED: Tried = {
    1: [{"tokens": (7,), "each": 3, "k": 2, "capacity": 2}],
    2: [{"tokens": (8, 6), "each": 2, "k": 3, "capacity": 3},
        {"tokens": (0, 7), "each": 1, "k": 1, "capacity": 7, "shut": (0,)}],
    3: [{"tokens": (8, 0, 9), "each": 2, "k": 2, "capacity": 2},
        {"tokens": (4, 6, 3), "each": 3, "k": 2, "capacity": 12, "shut": (3, 4, 5)}],
    4: [{"tokens": (6, 9, 3, 7), "each": 1, "k": 2, "capacity": 2},
        {"group": (1, 3), "tokens": (9, 6), "each": 2, "k": 2, "capacity": 2}],
    8: [{"tokens": (3, 5, 0, 2, 4, 6, 1, 3), "each": 3, "k": 3, "capacity": 1}],
}  # fmt: skip
SENT = "8·E a rank for counts; a row there and a row back for each choice that is kept"
ALL = "Does every rank call each all-to-all, also one that has no tokens, and one whose experts get no rows?"


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, Tensor, Noted, int, int]:
    """Quarters, so that nothing is rounded. bfloat16 doesn't hold them. Of three ranks, the last has zeros, the first
    has weights of 0, and the other one has weights below 0."""
    liked, drawn, each = scores(case, rank), generator(case, -1 - rank), case.settings["each"]
    experts = liked.argsort(dim=1, descending=True)[:, : case.settings["k"]]
    x = torch.randint(-999, 1000, (len(liked), WIDTH), generator=drawn) / 4 * ((case.ranks, rank) != (3, 2))
    weights = torch.randint(1, 400, experts.shape, generator=drawn) / 4
    weights *= {(3, 0): 0, (3, 1): -1}.get((case.ranks, rank), 1)
    return x, experts, weights, Noted(seat(case, rank) * each, each, WIDTH), count(case), case.settings["capacity"]


def before(experts: Tensor) -> Tensor:
    """How many choices of the rank come first where each wants to go, (T, k)."""
    found, wanted = torch.zeros_like(experts), Counter[int]()
    for j, t in product(range(experts.shape[1]), range(len(experts))):
        found[t, j] = wanted[int(experts[t, j])]
        wanted[int(experts[t, j])] += 1
    return found


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    found = []
    for x, experts, weights, _, E, C in (inputs(case, rank) for rank in case.members):
        kept = before(experts) < C
        factors, offsets = torch.tensor([coefficients(e) for e in range(E)]).T
        made = factors[experts].unsqueeze(2) * x.unsqueeze(1) + offsets[experts].unsqueeze(2)  # (T, k, d)
        found.append((((weights * kept).unsqueeze(2) * made).sum(1), kept))
    return found


def loads(case: Case) -> Loads:
    given = [inputs(case, rank) for rank in case.members]
    return [torch.bincount(e[before(e) < C], minlength=E).tolist() for _, e, _, _, E, C in given]


def misplaced(seen: Seen) -> Fault | None:
    """The first choice that has a place and should not, or the other way round."""
    for rank, held, (_, want) in zip(seen.case.members, results(seen), wanted(seen.case), strict=True):
        kept = held[1] if isinstance(held, list) and len(held) == 2 else None
        if isinstance(kept, Tensor) and (kept.dtype, kept.shape) == (want.dtype, want.shape) and (kept != want).any():
            _, experts, *_, C = inputs(seen.case, rank)
            t, j = (kept != want).nonzero()[0].tolist()
            free, e = max(0, C - int(before(experts)[t, j])), int(experts[t, j])
            told = f"kept[{t}, {j}] of rank {rank} is {bool(kept[t, j])}, not {bool(want[t, j])}. "
            told += f"When its turn comes, expert {e} has {free} of its {counted(C, 'place')} for this rank free."
            return Fault("wrong-values", f"With {seen.case}: {told}")
    return None


def scaled(seen: Seen) -> str:
    """Whether each token's row is a multiple of the right one, and not all of them by one number."""
    found: list[tuple[int, int, float]] = []
    for rank, (y, _), (want, _) in zip(seen.case.members, results(seen), wanted(seen.case), strict=True):
        rows = [t for t in range(len(want)) if want[t].any()]
        by = {t: float((y[t] * want[t]).sum() / want[t].square().sum()) for t in rows}
        if not all(torch.allclose(y[t], by[t] * want[t], rtol=1e-4, atol=1e-3) for t in rows):
            return ""
        found += [(rank, t, factor) for t, factor in by.items()]
    off = [row for row in found if abs(row[2] - 1) > 1e-4]
    if not off or max(by for *_, by in found) - min(by for *_, by in found) < 1e-4:
        return ""
    rank, t, factor = off[0]
    told = f"The row of each token is a multiple of the right one, by a number of its own: token {t} of rank {rank} has"
    return f"{told} {factor:.4g} times its. Do you scale a token's weights? Take each as it is, whatever is dropped."


def examined(seen: Seen) -> Fault | None:
    fault = misplaced(seen) or examine(ASKED)(alone(seen))
    of_rows = fault is not None and fault.misconception == "wrong-values" and not misplaced(seen)
    return replace(fault, aside=f"{fault.aside} {scaled(seen)}".strip()) if fault and of_rows else fault


def called(seen: Seen) -> list[tuple[int, int, int, int]]:
    """Of each rank each expert: its calls, and its rows."""
    found = []
    for rank, i in product(seen.case.members, range(seen.case.settings["each"])):
        rows = [n for expert, n in seen.returned[rank]["found"] if expert == i]
        found.append((rank, i, len(rows), sum(rows)))
    return found


def economise(seen: Seen) -> list[Fault]:
    """An expert that is called twice, or that computes what nobody wants."""
    needed = [sum(of_expert) for of_expert in zip(*loads(seen.case), strict=True)]
    for (rank, i, calls, rows), need in zip(called(seen), needed, strict=True):
        begin = f"With {seen.case}: on rank {rank} compute({i}, rows)"
        if calls > 1:
            told = f"{begin} is called {calls} times. An expert computes all of its rows in one call."
            return [Fault("too-many-calls", told)]
        if rows != need:
            return [Fault("too-many-rows", f"{begin} gets {counted(rows, 'row')}; {need} found a place there.")]
    return []


ASKED = Exercise(  # as if nothing were seen but what comes back
    number=4, title="There and back", points=7, minutes=40, worlds=tuple(TRIED), cases=cases(TRIED), inputs=inputs,
    parameters="x, experts, weights, compute, count, capacity, group=None",
    reference="lockstep.experts.functional:dispatch_and_combine",
    values=Values(wanted=wanted, share=0.6),
    costs=Costs(
        economise=economise,
        budgets=exchanges(loads, width=WIDTH, number=FLOAT, formula=SENT, all_to_alls=3),
    ),
    comparison=Comparison(
        footprint=lambda seen: (called(seen), sorted((e.rank, e.kind, e.nbytes) for e in collectives(seen.trace))),
    ),
    run=Run(timeout=2.5),
    feedback=Feedback(answer="a pair (y, kept)", hints=[("crashed:Deadlock", ALL), ("crashed:Mismatch", ALL), *HINTS]),
)  # fmt: skip
EXERCISE = replace(
    ASKED,
    values=replace(ASKED.values, wanted=None, examine=examined),
    comparison=replace(ASKED.comparison, alike=results),
    run=replace(ASKED.run, watch=noting(observed)),
)
