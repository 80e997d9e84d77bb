"""A mixture of experts in place of a block's MLP, on ranks that share the experts; its shapes do not depend on data.

    T   tokens of this rank                  k   experts of a token
    E   experts, E/K on each rank of "ep"    C   places at each expert for this rank's tokens: ceil(capacity·T·k/E)

    x (T, h) ── gate ── (1) who, and where: (T, k)                                     y (T, h)
        │ (2) a row for each place                                                        ▲ (5) Σ weight · row
    rows (E·C, h)                                                                      rows (E·C, h)
        │ (3) all-to-all over ep                                                          ▲ (3) all-to-all back
    rows (E/K, K·C, h) ── (4) up, GeLU, down: one product for all experts of the rank ── rows (E/K, K·C, h)

Without data nobody knows who chooses whom. So each expert has a fixed number of places for each rank's tokens, as in
GShard (arXiv:2006.16668, algorithm 1). Who comes too late is dropped; a place that nobody takes is sent and computed
all the same. With ``capacity`` 1 an expert computes T·k·K/E rows, as if tokens chose evenly: so runs are measured that
force the router to balance.

With tensor parallelism each rank has its own T/tp tokens (sequence parallelism), and experts are whole: ep is folded
into the ranks of a stage, tensor ranks first. The tp·cp·dp ranks of a stage have tp parts of a dense layer in cp·dp
copies; and ep parts of the experts in tp·cp·dp/ep copies, whose gradients "edp" sums up (MoE parallel folding, Liu et
al., arXiv:2504.14960; Megatron Core's expert_tensor_parallel_size=1). The gate is whole on every rank, and its gradient
a partial sum on each of the tensor group.

With ``dispatch`` "fp8" the first of the two exchanges is in 8 bits (``fp8_dispatch``).
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.experts.dispatch import AllToAll
from lockstep.experts.expert_parallel import experts_of
from lockstep.experts.gate import GATE, capacity, matrix, top_k_gate
from lockstep.hybrid import fp8_dispatch
from lockstep.hybrid.grid import GPTSize


class ExpertLayer(nn.Module):
    """x (b, T, h) to the same shape. The parameters of experts and gate are those of ``experts.serial.SerialMoE`` with
    the same layer. ``group``: the ranks of "ep"."""

    def __init__(self, model: GPTSize, layer: int, group: dist.ProcessGroup, seed: int = 0) -> None:
        super().__init__()
        h, f, dtype = model.hidden, model.expert_ffn, getattr(torch, model.dtype)
        mine = experts_of(model.experts, group)
        self.E, self.k, self.factor = model.experts, model.top_k, model.capacity
        self.group, self.K, self.low = group, dist.get_world_size(group), model.dispatch == "fp8"
        self.gate = matrix(self.E, h, GATE, layer, seed, dtype)
        self.up = nn.Parameter(torch.stack([matrix(f, h, 2 * i, layer, seed, dtype).data for i in mine]))
        self.down = nn.Parameter(torch.stack([matrix(h, f, 2 * i + 1, layer, seed, dtype).data for i in mine]))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        T, C = len(tokens), capacity(self.factor, len(tokens), self.k, self.E)
        scores = F.linear(tokens, self.gate)
        experts, weights = top_k_gate(scores.to(torch.promote_types(x.dtype, torch.float32)), self.k)  # 1
        slots = places(experts, self.E, C)
        rows = tokens.index_select(0, tokens_of(slots, self.E * C))  # 2
        done = self.combine(self.computed(self.dispatch(rows), C))  # 3, 4
        weights = (weights * (slots < self.E * C)).to(x.dtype)
        found = done.index_select(0, slots.clamp(max=self.E * C - 1).flatten()).view(T, self.k, -1)
        return torch.bmm(weights.unsqueeze(1), found).view_as(x)  # 5

    def computed(self, rows: Tensor, C: int) -> Tensor:
        """(4): rows (E·C, h) rank by rank, and from each rank expert by expert, to the same shape and order."""
        each = self.E // self.K
        inside = rows.view(self.K, each, C, -1).transpose(0, 1).reshape(each, self.K * C, -1)
        out = torch.bmm(F.gelu(torch.bmm(inside, self.up.transpose(1, 2))), self.down.transpose(1, 2))
        return out.view(each, self.K, C, -1).transpose(0, 1).reshape(self.E * C, -1)

    def dispatch(self, rows: Tensor) -> Tensor:
        return low(fp8_dispatch.Dispatch, rows, self.group) if self.low and self.K > 1 else self.exchange(rows)

    def combine(self, rows: Tensor) -> Tensor:
        return low(fp8_dispatch.Combine, rows, self.group) if self.low and self.K > 1 else self.exchange(rows)

    def exchange(self, rows: Tensor) -> Tensor:
        """(3): the n-th of K equal parts to rank n of the group; returned are those of all ranks, in their order."""
        if self.K == 1:
            return rows
        sizes = [len(rows) // self.K] * self.K
        out: Tensor = AllToAll.apply(rows, sizes, sizes, self.group)  # type: ignore[no-untyped-call]
        return out


def low(way: type[torch.autograd.Function], rows: Tensor, group: dist.ProcessGroup) -> Tensor:
    out: Tensor = way.apply(rows, group)  # type: ignore[no-untyped-call]
    return out


def places(experts: Tensor, E: int, C: int) -> Tensor:
    """The place e·C + n of each choice (T, k), if it is the n-th of expert e, first choices before second ones; E·C for
    those that are dropped."""
    wanted = experts.T.flatten()
    order = torch.argsort(wanted, stable=True)
    sorted_ = wanted[order]
    first = torch.searchsorted(sorted_, torch.arange(E))
    n = torch.arange(len(wanted)) - first[sorted_]
    found = torch.where(n < C, sorted_ * C + n, E * C)
    return torch.empty_like(wanted).scatter_(0, order, found).view_as(experts.T).T


def tokens_of(slots: Tensor, number: int) -> Tensor:
    """The token at each of ``number`` places, given the places of each token (T, k). At one that nobody took: token 0,
    whose result nobody reads."""
    T, k = slots.shape
    token = torch.arange(T).unsqueeze(1).expand(T, k)
    found = torch.zeros(number + 1, dtype=torch.int64).scatter_(0, slots.flatten(), token.flatten())
    return found[:number]
