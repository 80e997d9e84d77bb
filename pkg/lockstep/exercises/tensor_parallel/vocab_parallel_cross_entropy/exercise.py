"""The loss of scores whose columns lie on all ranks: three numbers a row travel, and nothing goes back."""

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.tensor_parallel.layer_steps import Layer, Part, along, passes
from lockstep.exercises.without_waiting.evidence import case
from lockstep.tensor_parallel.f_and_g import share

LARGE = 1e4  # exp of it is no number, and of its opposite zero
AS_DRAWN, ONE_ROW, LOW = "", "scores near 10⁴ in row 0, near −10⁴ in the others", "scores near −10⁴"
ZEROS = "scores that are 0 on one rank"
ONE_RANK = "scores near 10⁴ on one rank, near −10⁴ on the others"
ANYWHERE, FIRST, LAST = "", "all targets on the first rank", "all targets on the last rank"
TRIED = {  # rows, tokens, how large scores are, where targets are; by ranks
    1: [(4, 5, AS_DRAWN, ANYWHERE)],
    2: [(5, 2, AS_DRAWN, ANYWHERE), (4, 11, ONE_ROW, ANYWHERE)],
    3: [(4, 11, AS_DRAWN, ANYWHERE), (5, 13, ONE_RANK, LAST), (1, 3, ZEROS, FIRST), (3, 7, LOW, ANYWHERE)],
    4: [(6, 12, AS_DRAWN, FIRST), (3, 14, ONE_RANK, ANYWHERE)],
}
IN_A_GROUP = (3, 9, AS_DRAWN, ANYWHERE)


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, of) for group in groups(ranks) for of in ([IN_A_GROUP] if group else TRIED[ranks])]
    return [
        case(ranks, seed + i, group, f"n = {n}, {V} tokens", size, where, n=n, V=V, size=size, where=where)
        for i, (group, (n, V, size, where)) in enumerate(rows)
    ]


def drawn(case: Case) -> list[Tensor | int]:
    """All scores, all targets; and token 0 is the first."""
    n, V, size, where = (case.settings[name] for name in ("n", "V", "size", "where"))
    dice = generator(case, -1000)
    scores = torch.randn((n, V), generator=dice, dtype=torch.float64)
    if size == ZEROS:
        scores[:, share(V, case.size, 1)] = 0
    elif size:
        scores -= LARGE
        high = {ONE_ROW: scores[:1], ONE_RANK: scores[:, share(V, case.size, 1)]}.get(size, scores[:0])
        high += 2 * LARGE
    there = {FIRST: share(V, case.size, 0), LAST: share(V, case.size, case.size - 1)}.get(where, slice(0, V))
    return [scores, torch.randint(there.start, there.stop, (n,), generator=dice), 0]


def loss(scores: Tensor, targets: Tensor, first: int) -> Tensor:
    return F.cross_entropy(scores, targets)


FIRST_TOKEN = Part(lambda case, r, first: share(case.settings["V"], case.size, r).start)
LAYER = Layer("scores targets first", loss, drawn, given={"scores": along(1), "first": FIRST_TOKEN})
EXERCISE = LAYER.exercise(
    number=5,
    title="The loss of scores in parts",
    points=4,
    minutes=25,
    worlds=(1, 2, 3, 4),
    parameters="scores, targets, first, group=None",
    cases=cases,
    reference="lockstep.tensor_parallel:cross_entropy_of_columns",
    costs=Costs(
        algorithm="the loss",
        budgets=passes(3, lambda case: 3 * 8 * case.settings["n"], "3·n", backward=(0, lambda case: 0, "")),
    ),
)
