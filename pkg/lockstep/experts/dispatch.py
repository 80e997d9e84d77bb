"""Dispatch and combine: tokens travel to the ranks of their experts and back, in all-to-alls of uneven sizes.

    T   tokens of this rank       K   ranks, each with E/K experts: rank r has those from r·E/K on
    d   width                     R   rows that it sends: a copy of a token for each of its experts, T·k without drops
    E   experts                   S   rows that it receives

    tokens (T, d)                                                                      y (T, d)
        │ (1) a row for each choice, expert by expert                                      ▲ (6) Σ weight · row
    rows (R, d)                                                                        rows (R, d)
        │ (2) counts, (3) tokens: all-to-all                                               ▲ (5) all-to-all
    rows (S, d), rank by rank ──(4) expert by expert──> each expert its rows ──────> rows (S, d), rank by rank

    (2) A receiver has to know the sizes: an all-to-all of E counts precedes the tokens, and the rank waits for it.
    (3) The parts are uneven: rank s gets as many rows as chose its experts, possibly none.
    (4) Rows arrive rank by rank, and from each rank expert by expert. An expert needs all of its rows together.
    (5) is the reverse of (3): the same parts return to where they came from, in the same order.

The backward pass of an all-to-all is the all-to-all with sent and received sizes exchanged: gradients take the way
back. So a training step of a layer has 4 all-to-alls of tokens, (3) and (5) and the backward of each, and one of
counts. ``cost.experts`` has their bytes.

Source: Lepikhin et al., "GShard", arXiv:2006.16668, section 3.2 and algorithm 1, with a fixed capacity; uneven sizes as
in Gale et al., "MegaBlocks", arXiv:2211.15841, which drops nothing.
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
    """All-to-all of rows: the first ``sent[0]`` rows of x go to rank 0, the next ``sent[1]`` to rank 1, and so on.
    Returns the rows received, ``received[s]`` from rank s, in the order of the ranks. Differentiable."""

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
    """Which rows go where in one call of the layer."""

    choices: Tensor  # (R,): the index of each row among the T·k choices, expert by expert
    sent: Sequence[int]  # rows to each rank
    received: Sequence[int]  # rows from each rank
    by_expert: Tensor  # (S,): indices of the received rows, expert by expert
    rows: Sequence[int]  # for each of this rank's experts


def plan(routing: Routing, group: dist.ProcessGroup | None = None) -> Plan:
    """(1) and (2). All ranks call it. Raises UsageError if the ranks do not divide the experts."""
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
    """(3) and (4): from this rank's tokens ``x`` (T, d) to the rows of each of its experts, from all ranks."""
    rows = x[plan.choices // k]  # (R, d)
    arrived: Tensor = AllToAll.apply(rows, plan.received, plan.sent, group)  # type: ignore[no-untyped-call]
    return list(torch.split(arrived[plan.by_expert], list(plan.rows)))


def combine(outputs: Sequence[Tensor], weights: Tensor, plan: Plan, group: dist.ProcessGroup | None = None) -> Tensor:
    """(5) and (6): y (T, d) of this rank's tokens. ``outputs``: of this rank's experts, for the rows of ``dispatch``;
    ``weights`` (T, k)."""
    done = torch.cat(list(outputs))  # (S, d), expert by expert
    done = done[torch.argsort(plan.by_expert)]  # rank by rank
    rows: Tensor = AllToAll.apply(done, plan.sent, plan.received, group)  # type: ignore[no-untyped-call]
    T, k = weights.shape
    weighted = weights.flatten()[plan.choices].unsqueeze(1) * rows
    return rows.new_zeros(T, rows.shape[1]).index_add(0, plan.choices // k, weighted)
