"""Scores and choices of ranks for a load-balancing loss, and what is wrong with the ranks' parts of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isclose
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lockstep.checks.wording import listed
from lockstep.exercises.mixture_of_experts.observed_calls import SHARES, gradients, leaves, off
from lockstep.experts.balance import load_balancing_loss
from lockstep.experts.gate import top_k_gate

ONE, EVEN, OTHER = "all to one", "all even", "not the best"  # else choices are those of the highest scores
ZERO = "zeros on a rank"


class Task(NamedTuple):
    tokens: tuple[int, ...]  # of each rank
    experts: int
    k: int
    how: str = ""


class Parts(NamedTuple):
    """What is wrong, the plainest first: of a rank without tokens, of the sum, then of a rank's gradient."""

    what: str  # "empty", "sum" or "flows"
    rank: int  # in the group
    held: Any
    want: Any


TASKS = {  # by the number of ranks
    1: [Task((6,), 6, 2)],
    2: [Task((3, 8), 6, 2), Task((30_000, 3_000), 2, 1, ONE)],  # more than 16 bits hold
    3: [Task((0, 9, 4), 6, 2), Task((0, 9, 4), 4, 1, ONE)],
    4: [Task((5, 1, 7, 12), 6, 2, ZERO), Task((5, 1, 7, 12), 4, 1, EVEN)],
    5: [Task((2, 10, 0, 6, 3), 6, 3), Task((2, 10, 0, 6, 3), 4, 1, OTHER)],
    8: [Task((4, 1, 9, 0, 2, 7, 30, 3), 6, 3)],
}
GROUPS = {4: Task((0, 5), 5, 2), 8: Task((0, 5, 8, 2), 5, 2)}  # of the members of a group


def inputs(task: Task, rank: int, drawn: torch.Generator) -> tuple[Tensor, Tensor]:
    """Scores that lean to one expert, on each rank to another one: all ranks' shares are not their own. With an odd
    number of experts' choices they are float32."""
    T, E = task.tokens[rank], task.experts
    scores = torch.randn(T, E, generator=drawn, dtype=torch.float32 if task.k == 3 else torch.float64)
    scores[:, rank % E] += 1.5
    scores *= (task.how, rank) != (ZERO, 2)
    experts = top_k_gate(scores, task.k)[0]
    if task.how == EVEN:
        return torch.zeros_like(scores), torch.arange(T).unsqueeze(1) % E
    return scores, {ONE: torch.zeros_like(experts), OTHER: E - 1 - experts}.get(task.how, experts)


def observed(fn: Callable[..., Any], given: Sequence[Tensor]) -> dict[str, Any]:
    """The "part", and how it "flows" back to this rank's scores."""
    (scores,) = leaves(given[:1])
    part = fn(scores, given[1])
    return {"part": part, "flows": gradients(part, [scores])}


def wrong(found: Sequence[dict[str, Any]], own: Sequence[Sequence[Tensor]]) -> Iterator[Parts]:
    """Beside the loss as if all tokens were on one rank: ``found`` and ``own``, inputs, of each rank."""
    scores = leaves([of_rank[0] for of_rank in own])
    loss = load_balancing_loss(torch.cat(scores), torch.cat([of_rank[1] for of_rank in own]))
    parts = [float(e["part"]) for e in found]
    for rank, (part, of_rank) in enumerate(zip(parts, scores, strict=True)):
        if len(of_rank) == 0 and part != 0:
            yield Parts("empty", rank, part, 0.0)
    if off(torch.tensor(sum(parts), dtype=torch.float64), loss.detach().double(), SHARES):
        yield Parts("sum", 0, parts, loss.item())
    for rank, (e, want) in enumerate(zip(found, torch.autograd.grad(loss, scores), strict=True)):
        if len(want):  # who has no tokens need not say so by a gradient
            yield Parts("flows", rank, e["flows"], want)


def mistake(own: Sequence[Sequence[Tensor]], held: float) -> str:
    """Which other formula gives what is ``held``, in a sentence; "" for none that is known here."""
    E, k, N = own[0][0].shape[1], own[0][1].shape[1], sum(len(scores) for scores, _ in own)
    there = [(scores.detach().double(), experts) for scores, experts in own if len(scores)]
    shares = torch.bincount(torch.cat([experts.flatten() for _, experts in there]), minlength=E) / (N * k)
    highest = torch.cat([scores.topk(k).indices.flatten() for scores, _ in there])
    every = torch.cat([scores.softmax(1) for scores, _ in there]).mean(0)
    losses = [load_balancing_loss(*of_rank) for of_rank in there]
    k_own = [len(scores) * len(own) for scores, _ in there]  # tokens, if all ranks had as many
    formulas = {
        "N = T·K on each rank gives: ranks differ in tokens, so N is a sum": E
        * sum(
            ((N / n) ** 2 * (shares * s.softmax(1).sum(0)).sum() / N for n, (s, _) in zip(k_own, there, strict=True)),
            torch.zeros(()),
        ),
        "the f of each rank's own choices gives: count those of all ranks": sum(
            (len(s) / N * loss for (s, _), loss in zip(there, losses, strict=True)), torch.zeros(())
        ),
        "the mean of the ranks' own losses gives: ranks differ in tokens": torch.stack(losses).mean(),
        "the mean of the ranks' P gives: divide by N, the tokens of all ranks": E
        * (shares * torch.stack([scores.softmax(1).mean(0) for scores, _ in there]).mean(0)).sum(),
        "the k highest scores give: count the choices, which are in `experts`": E
        * (torch.bincount(highest, minlength=E) / (N * k) * every).sum(),
    }
    found = [told for told, value in formulas.items() if isclose(held, float(value), rel_tol=1e-5)]
    return f" That is what {found[0]}." if len(found) == 1 else ""


def factor(task: Task, held: float, want: float) -> str:
    """That one is so many times the other, if the exercise has a name for this number."""
    named = {"K": len(task.tokens), "E": task.experts, "N": sum(task.tokens), "k": task.k}
    for many, few, size in ((held, want, "large"), (want, held, "small")):
        if few and (by := [name for name, n in named.items() if n > 1 and isclose(many, n * few, rel_tol=1e-5)]):
            return f" It is {named[by[0]]} times too {size}: that is {listed(by, 'or')}."
    return ""
