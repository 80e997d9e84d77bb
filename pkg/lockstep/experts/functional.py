"""The lab's exercises as short functions on plain tensors; the other modules have the complete version of each.

T   tokens of this rank       E   experts, E/K on each of K ranks       k   experts per token
d   width                     h   hidden width of an expert             C   places on an expert for this rank's tokens
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.cost.experts import rows
from lockstep.experts.balance import parts_of_losses
from lockstep.experts.dispatch import combine, dispatch, plan
from lockstep.experts.gate import Routing, top_k_gate, within_capacity
from lockstep.experts.training import EVERYTHING, IDLE, KINDS, SIGNS, kind_of

Group = dist.ProcessGroup | None


def name_the_expert(tokens: Sequence[int], experts: Sequence[int], E: int) -> list[str]:
    """For each expert, the kind of bytes of which it gets the largest fraction; but "everything" if it gets at least 90
    % of the tokens, and "idle" below 1 %."""
    kinds = [kind_of(byte) for byte in tokens]
    total, got = Counter(kinds), Counter(zip(experts, kinds, strict=True))
    named = []
    for i in range(E):
        share = experts.count(i) / len(tokens)
        parts = {kind: got[i, kind] / total[kind] for kind in (*KINDS, SIGNS) if total[kind]}
        named.append(EVERYTHING if share >= 0.9 else IDLE if share < 0.01 else max(parts, key=lambda kind: parts[kind]))
    return named


def load_balancing_loss(scores: Tensor, experts: Tensor, group: Group = None) -> Tensor:
    """This rank's part of the load-balancing loss over all ranks' tokens; ``scores`` (T, E), ``experts`` (T, k)."""
    return parts_of_losses(scores, experts, group)[0]


def dispatch_and_combine(
    x: Tensor, experts: Tensor, weights: Tensor, compute: Callable[[int, Tensor], Tensor], E: int, C: int,
    group: Group = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """y (T, d), and which choices got a place (T, k), for tokens ``x`` (T, d) with choices ``experts`` (T, k) and their
    ``weights`` (T, k). ``compute(i, rows)`` applies this rank's i-th expert to rows (n, d); n may be 0."""
    kept = within_capacity(experts, E, C)
    where = plan(Routing(experts, weights, weights.new_empty(len(x), E), kept), group)
    arrived = dispatch(x, experts.shape[1], where, group)
    return combine([compute(i, part) for i, part in enumerate(arrived)], weights, where, group), kept


def expert_parallel_moe(
    x: Tensor, gate: Tensor, up: Tensor, down: Tensor, k: int, loss: Callable[[Tensor], Tensor], group: Group = None
) -> list[Tensor]:
    """The gradients of the sum of all ranks' losses with respect to ``x`` (T, d), ``gate`` (E, d), and this rank's
    ``up`` (E/K, h, d) and ``down`` (E/K, d, h). ``loss(y)`` is this rank's loss for y (T, d)."""
    inputs = [t.detach().requires_grad_() for t in (x, gate, up, down)]
    x, gate, up, down = inputs
    scores = F.linear(x, gate)
    experts, weights = top_k_gate(scores, k)
    where = plan(Routing(experts, weights, scores, torch.ones_like(experts, dtype=torch.bool)), group)
    arrived = dispatch(x, k, where, group)
    outputs = [F.linear(F.relu(F.linear(part, u)), v) for part, u, v in zip(arrived, up, down, strict=True)]
    found = list(torch.autograd.grad(loss(combine(outputs, weights, where, group)), inputs))
    dist.all_reduce(found[1], group=group)
    return found


def mixture_of_depths(x: Tensor, router: Tensor, block: Callable[[Tensor], Tensor], C: int) -> Tensor:
    """``x`` (T, d), plus ``block``, (C, d) to (C, d), of the C tokens with the highest scores x·``router``, times their
    scores."""
    scores = x @ router
    chosen = torch.argsort(scores, descending=True, stable=True)[:C].sort().values
    return x.index_add(0, chosen, scores[chosen].unsqueeze(1) * block(x[chosen]))


def step_time_of_loads(
    loads: Sequence[Sequence[int]], row_bytes: int, alpha: float, beta: float, seconds: float
) -> float:
    """Seconds of a forward pass. Rank r has loads[r][e] rows for expert e; an expert takes ``seconds`` per row, and a
    message of n bytes alpha + beta·n."""
    of_rank, K = rows(loads), len(loads)
    most = max(max(r.sent, r.received) for r in of_rank)
    exchange = (K - 1) * (alpha + row_bytes * most / K * beta)
    return 2 * exchange + max(r.received for r in of_rank) * seconds
