"""Expert parallelism computes what one rank does: the same gradients and weights, with every way of routing.

Each case trains two layers of experts for two steps with momentum, in float64, on W ranks, and again on one: a network
of linear layers around two mixtures, with residual connections, with 24 experts each unless a case has others. The 37
tokens are split unevenly: if there are three ranks or more, rank 1 has none. The loss includes the load-balancing loss
and the z-loss of the whole batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.experts.balance import parts_of_losses
from lockstep.experts.expert_parallel import ExpertParallelMoE, add_up_gradients, experts_and_replicas
from lockstep.experts.gate import Routing, Softmax, TopKGate
from lockstep.experts.serial import SerialMoE
from lockstep.models import linear
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

INPUTS, WIDTH, HIDDEN, OUTPUTS, EXPERTS, LAYERS = 7, 6, 5, 3, 24, 2
TOKENS, STEPS, RATE, MOMENTUM = 37, 2, 0.1, 0.9
BALANCE, Z = 0.01, 0.001
ONE_GROUP = ((1, 1), (2, 2), (3, 3), (4, 4), (8, 8))  # (W, K): W ranks in groups of K, each group with all experts
REPLICAS = ((4, 2), (6, 3), (8, 2), (8, 4))

State = dict[str, list[Tensor]]  # parameter -> its last gradient and its value


class Case(NamedTuple):
    name: str
    k: int = 2
    softmax: Softmax = "after"
    noisy: bool = False
    capacity_factor: float | None = None
    uneven: bool = False  # expert 0 of each layer is every token's first choice
    experts: int = EXPERTS  # K has to divide it


CASES = (
    Case("top-1, softmax before (Switch)", 1, "before"),
    Case("top-2, softmax after"),
    Case("top-2, softmax before (GShard)", 2, "before"),
    Case("top-2, noisy (2017)", noisy=True),
    Case("top-1, capacity factor 1", 1, "before", capacity_factor=1.0),
    Case("top-2, capacity factor 1.25", capacity_factor=1.25),
    Case("top-1, all to one expert", 1, "before", uneven=True),
    Case("top-2, all to one expert, capacity 1", capacity_factor=1.0, uneven=True),
)


class Around(nn.Module):
    """The network: a linear layer, two mixtures with residual connections, a linear layer."""

    def __init__(self, case: Case, mixtures: Sequence[nn.Module]) -> None:
        super().__init__()
        self.before = linear(INPUTS, WIDTH, 0, 0, torch.float64)
        self.mixtures = nn.ModuleList(mixtures)
        self.after = linear(WIDTH, OUTPUTS, 0, LAYERS + 1, torch.float64)
        if case.uneven:
            nn.init.constant_(self.before.bias, 2.0)

    def forward(self, x: Tensor, draws: Sequence[Tensor], **how: Any) -> tuple[Tensor, list[Routing]]:
        """(T, INPUTS) to (T, OUTPUTS), and the routing in each layer."""
        x, routings = self.before(x), list[Routing]()
        for mixture, normal in zip(self.mixtures, draws, strict=True):
            x = x + mixture(x, normal, **how)
            assert isinstance(mixture, SerialMoE | ExpertParallelMoE)
            routings.append(mixture.routing)
        return self.after(x), routings


def gate(case: Case, layer: int) -> TopKGate:
    made = TopKGate(WIDTH, case.experts, case.k, case.softmax, case.noisy, layer, dtype=torch.float64)
    if case.uneven:
        nn.init.constant_(made.weight[0].detach(), 1.0)
    return made


def shares(W: int) -> list[int]:
    """The tokens of each rank: as even as possible, but with three ranks or more rank 1 has none."""
    at_work = W - 1 if W > 2 else W
    sizes = [TOKENS // at_work + (r < TOKENS % at_work) for r in range(at_work)]
    return [sizes[0], 0, *sizes[1:]] if W > 2 else sizes


def batch(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets, and the noisy gate's samples for each layer."""
    drawn = torch.Generator().manual_seed(1)
    shapes = ((TOKENS, INPUTS), (TOKENS, OUTPUTS), (LAYERS, TOKENS, case.experts))
    x, y, normal = (torch.randn(shape, dtype=torch.float64, generator=drawn) for shape in shapes)
    return x, y, normal


# ---- on ranks


def all_cases(cases: Sequence[Case], K: int) -> list[State]:
    """Runs on each rank: its part of the state of each case."""
    experts_group, replicas = experts_and_replicas(K)
    return [trained(case, experts_group, replicas) for case in cases]


def trained(case: Case, experts_group: dist.ProcessGroup | None, replicas: dist.ProcessGroup | None) -> State:
    rank, sizes = dist.get_rank(), shares(dist.get_world_size())
    x, y, normal = (torch.split(t, sizes, dim=t.dim() - 2)[rank] for t in batch(case))
    mixtures = [
        ExpertParallelMoE(gate(case, n), HIDDEN, n, capacity_factor=case.capacity_factor, group=experts_group)
        for n in range(LAYERS)
    ]
    model = Around(case, mixtures)
    sgd = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)
    for _ in range(STEPS):
        sgd.zero_grad()
        output, routings = model(x, list(normal))
        loss = (output - y).square().sum() / (TOKENS * OUTPUTS)  # (1) of ``expert_parallel``
        for routing in routings:
            balance, z = parts_of_losses(routing.scores, routing.experts)
            loss = loss + BALANCE * balance + Z * z
        loss.backward()
        add_up_gradients(model, replicas)
        sgd.step()
    first = dist.get_rank(experts_group) * case.experts // dist.get_world_size(experts_group)
    return states(model, first)


# ---- on one


def alone(case: Case, W: int) -> State:
    """The same batch on one rank; the capacity applies to each of W shares."""
    x, y, normal = batch(case)
    model = Around(case, [SerialMoE(gate(case, n), HIDDEN, n, 0, case.capacity_factor) for n in range(LAYERS)])
    sgd = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)
    for _ in range(STEPS):
        sgd.zero_grad()
        output, routings = model(x, list(normal), shares=shares(W))
        loss = (output - y).square().mean()
        for routing in routings:
            f = torch.bincount(routing.experts.flatten(), minlength=case.experts) / routing.experts.numel()
            loss = loss + BALANCE * case.experts * (f * routing.scores.softmax(-1).mean(0)).sum()
            loss = loss + Z * routing.scores.logsumexp(-1).square().mean()
        loss.backward()
        for p in model.parameters():
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        sgd.step()
    return states(model, 0)


def states(model: nn.Module, first: int) -> State:
    """The state by the parameters' names in the serial model; ``first`` is the index of this rank's first expert."""
    found = dict[str, list[Tensor]]()
    for name, p in model.named_parameters():
        assert p.grad is not None
        found[numbered(name, first)] = [p.grad.clone(), p.detach().clone()]
    return found


def numbered(name: str, first: int) -> str:
    """The name in the serial model: mixtures.0.experts.1.up is mixtures.0.experts.7.up if ``first`` is 6."""
    before, found, rest = name.partition(".experts.")
    number, _, after = rest.partition(".")
    return f"{before}{found}{int(number) + first}.{after}" if found else name


# ---- compared


def beside_one_rank(
    grids: Sequence[tuple[int, int]] = ONE_GROUP + REPLICAS, cases: Sequence[Case] = CASES, on: str = "dgx-a100"
) -> list[dict[str, Any]]:
    """A row for each case and grid (W, K): the largest difference of any gradient or weight on any rank from one
    rank's. It is infinite if a parameter is missing."""
    rows = []
    for W, K in counted(grids, "Training", each=3.0):
        result = run(all_cases, cases, K, ranks=W, on=on)
        for n, case in enumerate(cases):
            wanted = alone(case, W)
            apart = max(furthest(of_rank[n], wanted) for of_rank in result.values)
            missing = wanted.keys() - {name for of_rank in result.values for name in of_rank[n]}
            rows.append({"case": case.name, "W": W, "K": K, "apart": float("inf") if missing else apart})
    return rows


def furthest(found: Mapping[str, Sequence[Tensor]], wanted: State) -> float:
    """The largest absolute difference of any number."""
    pairs = [pair for name in found for pair in zip(found[name], wanted[name], strict=True)]
    return max((a - b).abs().max().item() for a, b in pairs)


def gradients_table(grids: Sequence[tuple[int, int]] = ONE_GROUP + REPLICAS, experts: int = EXPERTS) -> Table:
    """``beside_one_rank`` on the virtual cluster: a row for each case, a column for each grid."""
    cases = [case._replace(experts=experts) for case in CASES]
    apart = {(row["case"], row["W"], row["K"]): row["apart"] for row in beside_one_rank(grids, cases)}
    head = ["", *(f"K = {K}" if K == W else f"{W // K} x {K}" for W, K in grids)]
    rows = [[case.name, *(f"{apart[case.name, W, K]:.0e}" for W, K in grids)] for case in CASES]
    caption = "Gradients and weights after two steps: the largest difference from one rank (replicas x K ranks)"
    return Table(caption, head, rows)
