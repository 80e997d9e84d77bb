"""A step of training with experts on all ranks: its gradients are those of one process, and its traffic is counted."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.traffic import collectives
from lockstep.cost.experts import Loads
from lockstep.exercises.mixture_of_experts.routed import HINTS, Tried, cases, count, exchanges, seat

WIDTH, HIDDEN, DOUBLE = 5, 24, 8  # an expert is larger than the rows that a rank sends
TRIED: Tried = {
    1: [{"tokens": (6,), "each": 4, "k": 2}],
    2: [{"tokens": (5, 3), "each": 2, "k": 2}, {"tokens": (4, 0), "each": 1, "k": 1, "shut": (0,)}],
    3: [{"tokens": (5, 0, 7), "each": 2, "k": 2, "shut": (2, 3)}],
    4: [{"tokens": (3, 5, 1, 4), "each": 1, "k": 3},
        {"group": (1, 3), "tokens": (6, 2), "each": 3, "k": 1, "shut": (1,)}],
}  # fmt: skip
SENT = "8·E a rank for counts; for each choice a row there and a row back, and both again for gradients"
ALL = ("Does every rank call each all-to-all, those of the backward pass, too, also where it has no tokens, or its "
       "experts get no rows? Then its empty rows have to stay in the graph.")  # fmt: skip
GRAPH = [
    ("crashed:Deadlock", ALL),
    ("crashed:Mismatch", ALL),
    ("does not require grad|not have been used in the graph", "No path of the graph leads from the loss to that tensor."
     " An all-to-all that no autograd.Function calls ends the path, and so does an expert that is left out."),
    ("returned an invalid gradient at", "The gradient by what was sent has as many rows as were sent: on the way back "
     "the two lists of split sizes change places."),
]  # fmt: skip


@dataclass(frozen=True)
class Loss:
    """Of y (T, d). Each rank wants another y."""

    target: float

    def __call__(self, y: Tensor) -> Tensor:
        return (y - self.target).square().sum()


def drawn(case: Case, of: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator(case, of), dtype=torch.float64)


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, Tensor, Tensor, int, Loss]:
    """In x there is a column of large positive numbers, in which the gate says that nobody likes a shut expert."""
    r, each, E = seat(case, rank), case.settings["each"], count(case)
    x, gate = drawn(case, rank, case.settings["tokens"][r], WIDTH), drawn(case, -1, E, WIDTH)
    up, down = drawn(case, -2, E, HIDDEN, WIDTH), drawn(case, -3, E, WIDTH, HIDDEN)
    x[:, 0] = 1 + x[:, 0].abs()
    gate[list(case.settings["shut"]), 0] = -30
    own = slice(r * each, (r + 1) * each)
    up, down = up[own] * ((case.ranks, rank) != (4, 0)), down[own] * ((case.ranks, rank) != (3, 0))
    return x, gate, up, down, case.settings["k"], Loss(r / 2)


def chosen(scores: Tensor, k: int) -> Tensor:
    return scores.argsort(dim=1, descending=True)[:, :k]


def wanted(case: Case) -> list[tuple[Tensor, ...]]:
    """Every expert makes something of every token, in one place; what was chosen counts."""
    given, tokens = [inputs(case, rank) for rank in case.members], list(case.settings["tokens"])
    of_x, gates, of_up, of_down, (k, *_), losses = zip(*given, strict=True)
    leaves = [t.requires_grad_() for t in (torch.cat(of_x), gates[0], torch.cat(of_up), torch.cat(of_down))]
    x, gate, up, down = leaves
    scores = x @ gate.T
    experts = chosen(scores, k)
    made = torch.einsum("edh,teh->ted", down, F.relu(torch.einsum("ehd,td->teh", up, x)))
    made = made[torch.arange(len(x)).unsqueeze(1), experts]  # (T, k, d)
    y = torch.split((F.softmax(scores.gather(1, experts), 1).unsqueeze(2) * made).sum(1), tokens)
    dx, dgate, dup, ddown = torch.autograd.grad(sum(loss(part) for loss, part in zip(losses, y, strict=True)), leaves)
    each = case.settings["each"]
    of_tokens, *of_experts = torch.split(dx, tokens), torch.split(dup, each), torch.split(ddown, each)
    return list(zip(of_tokens, [dgate] * case.size, *of_experts, strict=True))


def loads(case: Case) -> Loads:
    given = [inputs(case, rank)[:2] for rank in case.members]
    k, E = case.settings["k"], count(case)
    return [torch.bincount(chosen(x @ gate.T, k).flatten(), minlength=E).tolist() for x, gate in given]


EXERCISE = Exercise(
    number=5,
    title="Train it",
    points=7,
    minutes=40,
    worlds=tuple(TRIED),
    inputs=inputs,
    parameters="x, gate, up, down, k, loss, group=None",
    reference="lockstep.experts.functional:expert_parallel_moe",
    cases=cases(TRIED),
    values=Values(wanted=wanted, tolerance=1e-9, share=0.6),
    costs=Costs(
        budgets=exchanges(
            loads,
            width=WIDTH,
            number=DOUBLE,
            formula=SENT,
            all_to_alls=5,
            reduced=lambda case: DOUBLE * count(case) * WIDTH,
        ),
    ),
    comparison=Comparison(footprint=lambda seen: sorted((e.rank, e.kind, e.nbytes) for e in collectives(seen.trace))),
    run=Run(timeout=2.5),
    feedback=Feedback(answer="a list of four gradients", hints=[*GRAPH, *HINTS]),
)
