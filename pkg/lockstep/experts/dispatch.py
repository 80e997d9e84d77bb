"""Dispatch and combine: tokens travel to their experts' ranks and back, by all-to-alls of uneven parts.

    T   tokens of this rank       K   ranks, each with E/K experts: rank r has those from r·E/K on
    d   width                     R   rows that it sends: a copy of a token for each of its experts, T·k if none drops
    E   experts                   S   rows that it receives

    tokens (T, d)                                                                      y (T, d)
        │ (1) a row for each choice, expert by expert                                      ▲ (6) Σ weight · row
    rows (R, d)                                                                        rows (R, d)
        │ (2) counts, (3) tokens: all-to-all                                               ▲ (5) all-to-all
    rows (S, d), rank by rank ──(4) expert by expert──> each expert its rows ──────> rows (S, d), rank by rank

    (2) Who receives must know how much: an all-to-all of E counts goes ahead of the tokens, and the rank waits for it.
    (3) The parts differ: rank s gets as many rows as chose its experts. It may be none.
    (4) They come rank by rank, and of each rank expert by expert. Experts want all of their rows together.
    (5) is (3) backwards: the same parts return to where they came from, in the same order.

The backward pass of an all-to-all is the all-to-all with parts the other way round: gradients take the way back. So a
layer has 4 all-to-alls of tokens in a training step, (3) and (5) and each of them backwards, and one of counts.
``cost.experts`` has their bytes.

Source: Lepikhin et al., "GShard", arXiv:2006.16668, section 3.2 and algorithm 1, with fixed places; uneven parts as in
Gale et al., "MegaBlocks", arXiv:2211.15841, which drops nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.experts.balance import loads
from lockstep.experts.gate import Routing


class AllToAll(torch.autograd.Function):
    """Rows to all ranks: the first ``sent[0]`` of x to rank 0, the next ``sent[1]`` to rank 1, and so on. Returns what
    comes, rank by rank, ``received[s]`` rows from rank s. Backwards gradients return."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, received: Sequence[int], sent: Sequence[int], group: dist.ProcessGroup | None
    ) -> Tensor:
        ctx.parts = received, sent, group
        return all_to_all(x, received, sent, group)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        received, sent, group = ctx.parts
        return all_to_all(gradients[0], sent, received, group), None, None, None


def all_to_all(
    x: Tensor, received: Sequence[int], sent: Sequence[int], group: dist.ProcessGroup | None = None
) -> Tensor:
    out = x.new_empty(sum(received), *x.shape[1:])
    dist.all_to_all_single(out, x.contiguous(), list(received), list(sent), group=group)
    return out


class Plan(NamedTuple):
    """Who goes where, in a call of the layer."""

    choices: Tensor  # (R,): which of the T·k choices each row is, expert by expert
    sent: Sequence[int]  # rows to each rank
    received: Sequence[int]  # rows from each rank
    by_expert: Tensor  # (S,): which of the received rows stands at each place, expert by expert
    rows: Sequence[int]  # of each of this rank's experts


def plan(routing: Routing, group: dist.ProcessGroup | None = None) -> Plan:
    """(1) and (2). Raises UsageError if the ranks do not divide the experts."""
    E, K = routing.scores.shape[1], dist.get_world_size(group)
    if E % K:
        raise UsageError(f"{E} experts do not stand on {K} ranks evenly.", "Take a number of ranks that divides them.")
    order = torch.argsort(routing.experts.flatten(), stable=True)
    choices = order[routing.kept.flatten()[order]]  # (1)
    counts = loads(routing.experts[routing.kept], E)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)  # (2)
    arriving = arriving.view(K, E // K)  # [s, e]: rows from rank s for this rank's expert e
    expert_of_row = torch.arange(E // K, device=counts.device).repeat(K).repeat_interleave(arriving.flatten())
    by_expert = torch.argsort(expert_of_row, stable=True)  # (4)
    sent, received = counts.view(K, E // K).sum(1).tolist(), arriving.sum(1).tolist()
    return Plan(choices, sent, received, by_expert, arriving.sum(0).tolist())


def dispatch(x: Tensor, k: int, plan: Plan, group: dist.ProcessGroup | None = None) -> list[Tensor]:
    """(3) and (4): the rows of each of this rank's experts, from all ranks, of their tokens ``x`` (T, d)."""
    rows = x[plan.choices // k]  # (R, d)
    arrived: Tensor = AllToAll.apply(rows, plan.received, plan.sent, group)  # type: ignore[no-untyped-call]
    return list(torch.split(arrived[plan.by_expert], list(plan.rows)))


def combine(outputs: Sequence[Tensor], weights: Tensor, plan: Plan, group: dist.ProcessGroup | None = None) -> Tensor:
    """(5) and (6): y (T, d), from what this rank's experts have made of their rows; ``weights`` (T, k)."""
    done = torch.cat(list(outputs))  # (S, d), expert by expert
    done = done[torch.argsort(plan.by_expert)]  # rank by rank
    rows: Tensor = AllToAll.apply(done, plan.sent, plan.received, group)  # type: ignore[no-untyped-call]
    T, k = weights.shape
    weighted = weights.flatten()[plan.choices].unsqueeze(1) * rows
    return rows.new_zeros(T, rows.shape[1]).index_add(0, plan.choices // k, weighted)
