"""Expert parallelism: every rank has its own tokens, the gate, and E/K of the experts.

    W   ranks in all: W/K replicas of K ranks each        E   experts, E/K on a rank
    K   ranks that have all the experts together          T   tokens of a rank

                 rank 0         rank 1     │     rank 2         rank 3           W = 4, K = 2, E = 4
    tokens       batch's 1st    2nd        │     3rd            4th quarter      each rank its own
    gate         whole          whole      │     whole          whole            a replica on all W ranks
    experts      0, 1           2, 3       │     0, 1           2, 3             a replica on W/K ranks
                 └── all-to-all ───┘       │     └── all-to-all ───┘             `experts_group`: K neighbours, a node
                    └──────────── all-reduce of experts 0, 1 ──┘                 `replicas`: the same place of each

The rest of the model is data-parallel: no rank is without tokens of its own.

(1) Each rank's loss is its tokens' part of the mean over the whole batch: their sum, divided by the tokens of all W
    ranks.
(2) So gradients have to be *summed*, never averaged, over all W ranks for the parameters that all ranks have. The
    gradient of an expert already includes the tokens of K ranks, which the all-to-all brought. It is summed over its
    W/K replicas only. (If each rank's loss were its own mean, *both* would be divided by W. Dividing an expert's
    gradient by its W/K replicas makes it K times too large, and each rank's loss still falls.)

Source: Fedus et al., "Switch Transformers", arXiv:2101.03961, section 5.4; Rajbhandari et al., "DeepSpeed-MoE",
arXiv:2201.05596, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.errors import UsageError
from lockstep.experts.dispatch import combine, dispatch, plan
from lockstep.experts.gate import Routing, TopKGate, limited
from lockstep.experts.serial import Expert

Group = dist.ProcessGroup | None


class ExpertParallelMoE(nn.Module):
    """The mixture-of-experts layer, with ``gate``, the same on every rank, and this rank's experts: x (T, d) to (T, d).

    ``hidden``: the hidden width of an expert. T may differ between ranks, and be 0. ``group``: the K ranks that share
    the experts; K has to divide E. ``routing`` is that of the last call, for the losses. All ranks of the group have to
    call the layer, and run the backward pass through it."""

    routing: Routing

    def __init__(
        self, gate: TopKGate, hidden: int, layer: int = 0, seed: int = 0, capacity_factor: float | None = None,
        group: Group = None,
    ) -> None:  # fmt: skip
        super().__init__()
        (E, d), dtype = gate.weight.shape, gate.weight.dtype
        mine = experts_of(E, group)
        self.gate, self.capacity_factor, self.group = gate, capacity_factor, group
        self.experts = nn.ModuleList([Expert(d, hidden, i, layer, seed, dtype) for i in mine])

    def forward(self, x: Tensor, normal: Tensor | None = None) -> Tensor:
        """``normal`` (T, E): the noisy gate's samples, as in ``TopKGate``."""
        self.routing = limited(self.gate(x, normal), self.capacity_factor)
        where = plan(self.routing, self.group)
        rows = dispatch(x, self.gate.k, where, self.group)
        outputs = [expert(part) for expert, part in zip(self.experts, rows, strict=True)]
        return combine(outputs, self.routing.weights, where, self.group)


def experts_of(E: int, group: Group = None) -> range:
    """The indices of this rank's experts. Raises UsageError if the ranks do not divide the experts."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    if E % K:
        raise UsageError(f"{E} experts do not stand on {K} ranks evenly.", "Take a number of ranks that divides them.")
    return range(r * E // K, (r + 1) * E // K)


def experts_and_replicas(K: int) -> tuple[Group, Group]:
    """This rank's two groups, if each K neighbours have all experts together: those neighbours, and the ranks with the
    same experts. All ranks have to call it, once. Raises UsageError if K does not divide the ranks."""
    W, rank = dist.get_world_size(), dist.get_rank()
    if W % K:
        raise UsageError(f"{W} ranks are no groups of {K}.", "Take a number that divides them.")
    neighbours = [dist.new_group(list(range(first, first + K))) for first in range(0, W, K)]
    alike = [dist.new_group(list(range(place, W, K))) for place in range(K)]
    return neighbours[rank // K], alike[rank % K]


def add_up_gradients(model: nn.Module, replicas: Group, everyone: Group = None) -> None:
    """(2) Sum the gradients after the backward pass. All ranks of ``everyone`` have to call it. A missing gradient
    counts as zeros."""
    experts = {p for module in model.modules() if isinstance(module, ExpertParallelMoE)
               for p in module.experts.parameters()}  # fmt: skip
    _add_up([p for p in model.parameters() if p in experts], replicas)
    _add_up([p for p in model.parameters() if p not in experts], everyone)


def _add_up(parameters: Iterable[nn.Parameter], group: Group) -> None:
    """Sum the gradients over the group in one all-reduce."""
    parameters = list(parameters)
    if not parameters:
        return
    flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
    dist.all_reduce(flat, group=group)
    for p, gradient in zip(parameters, torch.split(flat, [p.numel() for p in parameters]), strict=True):
        p.grad = gradient.view_as(p)
