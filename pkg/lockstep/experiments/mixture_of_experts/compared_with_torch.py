"""The layer compared with one built from torch's own parts: the same output, gradients and all-to-alls.

torch has no mixture of experts, neither as a module nor as a way to shard one (there is no ``ExpertParallel`` among the
styles of ``torch.distributed.tensor.parallel``; torchtitan has its own). It has the parts:

    here                     there
    dispatch.AllToAll        torch.distributed._functional_collectives.all_to_all_single_autograd
    experts one by one       torch.nn.functional.grouped_mm: all of a rank's in one product, their matrices stacked
    gate.top_k_gate          Tensor.topk; ties may be resolved differently

Source: torchtitan, ``torchtitan/models/moe`` and ``torchtitan/distributed/expert_parallel.py``, whose steps these are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import _functional_collectives
from torch.nn.functional import gelu, grouped_mm, linear

from lockstep.events import Count
from lockstep.experts.expert_parallel import ExpertParallelMoE, experts_of
from lockstep.experts.gate import TopKGate
from lockstep.experts.serial import Expert
from lockstep.tables import Table
from lockstep.worlds import run

functional: Any = _functional_collectives  # without types

WIDTH, HIDDEN, EXPERTS, K, TOKENS = 32, 64, 8, 2, 48


class Theirs(nn.Module):
    """``ExpertParallelMoE`` built from torch's parts, with softmax "after" and no capacity: x (T, d) to (T, d)."""

    def __init__(self, width: int, hidden: int, experts: int, k: int) -> None:
        super().__init__()
        self.k, self.group = k, dist.group.WORLD
        mine = [Expert(width, hidden, i) for i in experts_of(experts)]
        self.gate = TopKGate(width, experts, k).weight
        self.up = nn.Parameter(torch.stack([e.up.detach().T for e in mine]).contiguous())  # (E/K, d, h)
        self.down = nn.Parameter(torch.stack([e.down.detach().T for e in mine]).contiguous())

    def forward(self, x: Tensor) -> Tensor:
        E, ranks = self.gate.shape[0], dist.get_world_size()
        scores, experts = linear(x, self.gate).topk(self.k)
        order = experts.flatten().argsort(stable=True)
        counts = torch.bincount(experts.flatten(), minlength=E)
        arriving = functional.all_to_all_single(counts, None, None, self.group)
        arriving = functional.wait_tensor(arriving).view(ranks, -1)
        sent, received = counts.view(ranks, -1).sum(1).tolist(), arriving.sum(1).tolist()
        coming = functional.all_to_all_single_autograd(x[order // self.k], received, sent, self.group)
        expert_of_row = torch.arange(E // ranks).repeat(ranks).repeat_interleave(arriving.flatten())
        by_expert = expert_of_row.argsort(stable=True)
        ends = arriving.sum(0).cumsum(0).to(torch.int32)
        hidden = gelu(grouped_mm(functional.wait_tensor(coming)[by_expert], self.up, offs=ends))
        done = grouped_mm(hidden, self.down, offs=ends)[by_expert.argsort()]
        back = functional.all_to_all_single_autograd(done, sent, received, self.group)
        weights = scores.softmax(-1).flatten()[order].unsqueeze(1)
        return torch.zeros_like(x).index_add(0, order // self.k, weights * functional.wait_tensor(back))


class Beside(NamedTuple):
    ranks: int
    difference: float  # the largest of any number in the output or a gradient
    sent: Count  # all-to-alls of rank 0 and their bytes
    theirs: Count


def passes(which: str) -> list[Tensor]:
    """Runs on each rank: the output, and the gradients of the input, the gate, all ``up`` and all ``down``."""
    x = torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(dist.get_rank())).requires_grad_()
    layer: Any = ours() if which == "ours" else Theirs(WIDTH, HIDDEN, EXPERTS, K)
    y = layer(x)
    y.square().sum().backward()
    if which == "ours":
        up, down = (torch.stack([getattr(e, name).grad.T for e in layer.experts]) for name in ("up", "down"))
        return [y.detach(), x.grad, layer.gate.weight.grad, up, down]
    return [y.detach(), x.grad, layer.gate.grad, layer.up.grad, layer.down.grad]


def ours() -> ExpertParallelMoE:
    return ExpertParallelMoE(TopKGate(WIDTH, EXPERTS, K), HIDDEN)


def beside_torch(ranks: int, on: str = "dgx-a100") -> Beside:
    mine, theirs = (run(passes, which, ranks=ranks, on=on) for which in ("ours", "torch's"))
    pairs = [pair for a, b in zip(mine.values, theirs.values, strict=True) for pair in zip(a, b, strict=True)]
    apart = max((a - b).abs().max().item() for a, b in pairs)
    sent, also = (result.trace.counts()[0, "all_to_all"] for result in (mine, theirs))
    return Beside(ranks, apart, sent, also)


def beside_torch_table(on: str = "dgx-a100") -> Table:
    rows = []
    for one in (beside_torch(ranks, on) for ranks in (1, 2, 4)):
        rows.append([str(one.ranks), f"{one.difference:.0e}", str(one.sent.number), str(one.theirs.number),
                     f"{one.sent.nbytes:,}", f"{one.theirs.nbytes:,}"])  # fmt: skip
    head = ["K", "apart", "all-to-alls", "torch's", "bytes", "torch's"]
    return Table("Our layer beside one of torch's parts: a forward and a backward pass, float32", head, rows)
