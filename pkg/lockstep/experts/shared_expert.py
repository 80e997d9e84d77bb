"""A shared expert: it computes every token, on the token's own rank, while the tokens of the other experts travel.

    y = E_shared(x) + Σ_i G_i(x)·E_i(x)

    rank    │ gate │(1) dispatch begins                  (3) arrived│ experts │ combine │
    compute        │        (2) shared expert       │
    link           │ ──────── all-to-all ─────────────────────────> │

It needs neither the gate nor a message, so its computation can hide one. What all tokens need is learnt by one expert
instead of by each of the others again: DeepSeekMoE's reason to have it. DeepSeek-V3 has one shared expert and 256
routed ones. LLaMA-4 has one in addition to the expert that the gate chooses, whose output it weighs by a sigmoid.

Autograd goes back through (3), (2), (1): nodes created last come first. So the gradients of the tokens that arrived
begin their way back in (3), and (1) waits for them after (2): the backward pass overlaps the same way.

Source: Dai et al., "DeepSeekMoE", arXiv:2401.06066, section 3.2; hiding the dispatch: Rajbhandari et al.,
"DeepSpeed-MoE", arXiv:2201.05596, has the residual expert, Megatron Core the overlap (``--moe-shared-expert-overlap``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.experts.dispatch import Plan, combine, plan
from lockstep.experts.expert_parallel import ExpertParallelMoE
from lockstep.experts.gate import TopKGate, limited
from lockstep.experts.serial import Expert
from lockstep.tables import Table
from lockstep.worlds import run

SHARED = 400_000  # its number, see ``gate.matrix``


@dataclass
class Travelling:
    """An all-to-all in flight: its sizes, its handle and its output buffer."""

    where: Plan
    group: dist.ProcessGroup | None
    work: Any = None
    coming: Tensor | None = None

    def post(self, x: Tensor, received: Sequence[int], sent: Sequence[int]) -> None:
        self.coming = x.new_empty(sum(received), x.shape[1])
        self.work = dist.all_to_all_single(
            self.coming, x.contiguous(), list(received), list(sent), group=self.group, async_op=True
        )

    def wait(self) -> Tensor:
        """The rows received."""
        self.work.wait()
        assert self.coming is not None
        arrived, self.coming = self.coming, None
        return arrived


class Begin(torch.autograd.Function):
    """(1) Forward: start the all-to-all, and return a scalar that links (1) to (3) in the graph. Backward: wait for the
    one that (3) has started."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, travelling: Travelling) -> Tensor:
        ctx.travelling = travelling
        travelling.post(rows, travelling.where.received, travelling.where.sent)
        return rows.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return ctx.travelling.wait(), None


class Arrived(torch.autograd.Function):
    """(3) Forward: wait for the all-to-all. Backward: start the one that returns the gradients."""

    @staticmethod
    def forward(ctx: Any, begun: Tensor, travelling: Travelling) -> Tensor:
        ctx.travelling = travelling
        return travelling.wait()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        where = ctx.travelling.where
        ctx.travelling.post(gradients[0], where.sent, where.received)
        return gradients[0].new_zeros(()), None


class SharedExpertMoE(nn.Module):
    """``mixture`` plus a shared expert of hidden width ``hidden``, the same on every rank: x (T, d) to (T, d).

    With ``overlap=False`` the shared expert is computed after the others, with the same result."""

    def __init__(
        self, mixture: ExpertParallelMoE, hidden: int, layer: int = 0, seed: int = 0, overlap: bool = True
    ) -> None:
        super().__init__()
        weight = mixture.gate.weight
        self.mixture, self.overlap = mixture, overlap
        self.shared = Expert(weight.shape[1], hidden, SHARED, layer, seed, weight.dtype)

    def forward(self, x: Tensor) -> Tensor:
        mixture = self.mixture
        if not self.overlap:
            without: Tensor = mixture(x) + self.shared(x)
            return without
        mixture.routing = limited(mixture.gate(x), mixture.capacity_factor)
        where = plan(mixture.routing, mixture.group)
        travelling = Travelling(where, mixture.group)
        begun = Begin.apply(x[where.choices // mixture.gate.k], travelling)  # type: ignore[no-untyped-call]  # (1)
        shared: Tensor = self.shared(x)  # (2)
        arrived: Tensor = Arrived.apply(begun, travelling)  # type: ignore[no-untyped-call]  # (3)
        rows = torch.split(arrived[where.by_expert], list(where.rows))
        outputs = [expert(part) for expert, part in zip(mixture.experts, rows, strict=True)]
        return shared + combine(outputs, mixture.routing.weights, where, mixture.group)


# ---- what the overlap hides


def passed(overlap: bool, width: int = 256, hidden: int = 1024, tokens: int = 512) -> list[Tensor]:
    """Runs on each rank: the gradients after a forward and a backward pass of four experts, top-1, and a shared one."""
    layer = SharedExpertMoE(ExpertParallelMoE(TopKGate(width, 4, 1), hidden), hidden, overlap=overlap)
    drawn = torch.Generator().manual_seed(dist.get_rank())
    layer(torch.randn(tokens, width, generator=drawn)).square().sum().backward()
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in layer.parameters()]


def overlap_table(ranks: int = 4, on: str = "dgx-a100") -> Table:
    """The same layer twice: with the shared expert after the others, and while their tokens travel."""
    then, first = (run(passed, overlap, ranks=ranks, on=on) for overlap in (False, True))
    pairs = [pair for a, b in zip(then.values, first.values, strict=True) for pair in zip(a, b, strict=True)]
    apart = max((a - b).abs().max().item() for a, b in pairs)
    rows = []
    for name, result in (("after the others", then), ("while tokens travel", first)):
        waited = sum(e.wait for e in result.trace.of_rank(0) if e.kind == "all_to_all")
        rows.append([name, f"{result.time * 1e6:.0f}", f"{waited * 1e6:.0f}", "" if result is then else f"{apart:g}"])
    head = ["the shared expert computes", "step, µs", "rank 0 waits for all-to-alls, µs", "gradients apart"]
    return Table(f"A shared expert on {ranks} simulated A100", head, rows)
