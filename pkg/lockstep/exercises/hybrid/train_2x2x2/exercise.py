"""A step under tp, dp and pp at once: judged by gradients, by the groups that are used, and by bytes on each axis."""

from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import collectives
from lockstep.exercises.hybrid.three_axes import (
    AXES,
    ON_DP,
    ON_PP,
    ON_TP,
    astray,
    case_of,
    seat,
    split,
    watch,
)  # fmt: skip
from lockstep.exercises.mixture_of_experts.observed_calls import rounded
from lockstep.hybrid.mesh import make_grid

DOUBLE = 8  # bytes
TRIED = {  # tp, dp, pp, h, m, and the rows of each copy's micro-batches
    1: [(1, 1, 1, 3, 4, [[2, 1]])],
    2: [(2, 1, 1, 3, 5, [[2, 3]]), (1, 2, 1, 4, 3, [[1], [4]]), (1, 1, 2, 5, 3, [[3, 1, 2, 1, 1]])],
    4: [(2, 1, 2, 3, 5, [[2, 2]]), (1, 2, 2, 4, 6, [[3, 1], [2]]), (1, 1, 4, 2, 3, [[1, 1, 1]])],
    6: [(3, 1, 2, 4, 7, [[2, 1]]), (1, 3, 2, 3, 4, [[1, 2], [2, 2], [4, 1]])],
    8: [(2, 2, 2, 6, 9, [[2, 3, 1], [1, 2]]), (4, 2, 1, 3, 9, [[2], [1, 1]])],
}


def cases(ranks: int, seed: int) -> list[Case]:
    return [
        case_of(ranks, seed + n, tp=tp, dp=dp, pp=pp, h=h, m=m, rows=rows)
        for n, (tp, dp, pp, h, m, rows) in enumerate(TRIED[ranks])
    ]


def examples(case: Case, copy: int, of: int) -> list[Tensor]:
    """Inputs (``of`` 0) or targets (1) of a copy's micro-batches."""
    rows, h = case.settings["rows"][copy], case.settings["h"]
    drawn = torch.randn(sum(rows), h, generator=generator(case, 10 * copy + of), dtype=torch.float64)
    return list(torch.split(drawn, rows))


def matrices(case: Case) -> list[tuple[Tensor, Tensor]]:
    """A and B of each stage."""
    drawn, h, m = generator(case, -1), case.settings["h"], case.settings["m"]
    made = [torch.randn(2, h, m, generator=drawn, dtype=torch.float64) for _ in range(case.settings["pp"])]
    return [(A, B.T.contiguous()) for A, B in made]


def total(case: Case) -> int:
    return sum(map(sum, case.settings["rows"]))


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """The last one is for ``watch``: all groups, by axis."""
    at, tp, pp = seat(case, rank), case.settings["tp"], case.settings["pp"]
    A, B = matrices(case)[at["pp"]]
    own = split(A, tp, 1)[at["tp"]], split(B, tp, 0)[at["tp"]]
    x = examples(case, at["dp"], 0) if at["pp"] == 0 else []
    y = examples(case, at["dp"], 1) if at["pp"] == pp - 1 else []
    grid = make_grid(case.ranks, [case.settings[axis] for axis in AXES]) or []
    return *own, list(case.settings["rows"][at["dp"]]), x, y, total(case), list(zip(AXES, grid, strict=True))


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    """All examples of all copies, on one rank."""
    leaves = [(A.requires_grad_(), B.requires_grad_()) for A, B in matrices(case)]
    copies = range(case.settings["dp"])
    x, y = (torch.cat([part for copy in copies for part in examples(case, copy, of)]) for of in (0, 1))
    for A, B in leaves:
        x = x + (x @ A).relu() @ B
    torch.autograd.backward((x - y).square().sum() / total(case))
    found = []
    for rank in case.members:
        at, tp = seat(case, rank), case.settings["tp"]
        dA, dB = (leaf.grad for leaf in leaves[at["pp"]])
        assert dA is not None
        assert dB is not None
        found.append((split(dA, tp, 1)[at["tp"]], split(dB, tp, 0)[at["tp"]]))
    return found


def activations(case: Case) -> int:
    """Bytes of a copy's rows, once forward and once backward: of the copy that has most."""
    return int(2 * DOUBLE * case.settings["h"] * max(map(sum, case.settings["rows"])))


def alike(seen: Seen) -> list[Any]:
    return [rounded(seen.returned[rank]) for rank in seen.case.members]


def footprint(seen: Seen) -> Any:
    """What two answers share that cost as much: all collectives' groups and bytes, and all messages."""
    called = sorted((e.rank, e.kind, e.group, e.nbytes) for e in collectives(seen.trace))
    return called, sorted((e.rank, e.peer, e.nbytes) for e in seen.trace.of_kind("send"))


EXERCISE = Exercise(
    number=2, title="Three axes at once", points=6, minutes=35,
    parameters="A, B, rows, inputs, targets, count, groups",
    reference="lockstep.hybrid.functional:train_2x2x2", cases=cases, inputs=inputs, worlds=tuple(TRIED),
    values=Values(wanted=wanted, tolerance=1e-9),
    costs=Costs(algorithm="this step", economise=astray, budgets=(
        Budget(ON_TP, activations, "2·n·h numbers", advice="One all-reduce a pass and micro-batch, of n·h numbers."),
        Budget(ON_PP, activations, "2·n·h numbers", advice="A micro-batch goes to the next stage once, and its "
               "gradient comes back once."),
        Budget(ON_DP, lambda case: max(DOUBLE * (a[0].numel() + a[1].numel()) for a in
                                       (inputs(case, rank) for rank in case.members)), "one gradient of A and of B",
               advice="Add up a copy's micro-batches first."),
        Budget("barriers", lambda case: 0, advice="A collective or a message says itself when it is done."),
    )),
    comparison=Comparison(alike=alike, footprint=footprint), run=Run(timeout=2.5, watch=watch),
    feedback=Feedback(answer="a list of two gradients", hints=[
        ("crashed:Deadlock", "Is each message between neighbours on pp, by their places in that group? Does each rank "
         "of a group call each all-reduce, though copies may differ in their number of micro-batches?"),
        ("crashed:Mismatch", "What do the ranks of this group have alike, and what is different on each of them?"),
    ]),
)  # fmt: skip
