"""Scores and choices of ranks for a load-balancing loss, and what is wrong with the ranks' parts of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lockstep.exercises.mixture_of_experts.observed_calls import gradients, leaves, off
from lockstep.experts.balance import load_balancing_loss
from lockstep.experts.gate import top_k_gate

ONE, EVEN, OTHER = "all to one", "all even", "not the best"  # else choices are those of the highest scores


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
    2: [Task((3, 8), 6, 2)],
    3: [Task((0, 9, 4), 6, 2), Task((0, 9, 4), 4, 1, ONE)],
    4: [Task((5, 1, 7, 12), 6, 2), Task((5, 1, 7, 12), 4, 1, EVEN)],
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
    if off(torch.tensor(sum(parts), dtype=torch.float64), loss.detach().double()):
        yield Parts("sum", 0, parts, loss.item())
    for rank, (e, want) in enumerate(zip(found, torch.autograd.grad(loss, scores), strict=True)):
        if len(want):  # who has no tokens need not say so by a gradient
            yield Parts("flows", rank, e["flows"], want)
