"""The step time of a layer of experts with given loads: imbalance makes a straggler.

    rank 0   │ all-to-all │▓▓▓▓▓▓▓▓▓▓ experts ▓▓▓▓▓▓▓▓▓▓│ all-to-all │      it has the most popular expert
    rank 1   │ all-to-all │▓▓▓▓│·········· waits ·······│ all-to-all │
    rank 2   │ all-to-all │▓▓▓▓│·········· waits ·······│ all-to-all │
              tokens out                                 tokens back

The program has no gate: the loads are given, n[r][e] rows of rank r for expert e. So it runs without data at any size,
``loaded(loads).show()`` draws its timeline, and its time is that of ``cost.experts.step_seconds``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.cost.experts import Loads, even_loads, rows, step_seconds, with_capacity
from lockstep.experts.dispatch import all_to_all
from lockstep.experts.expert_parallel import experts_of
from lockstep.machines import find
from lockstep.show.chart import Chart
from lockstep.show.curves import curves
from lockstep.tables import Table
from lockstep.worlds import Result, run

WIDTH, HIDDEN, TOKENS = 1024, 4096, 4096
CLUSTER = "dgx-a100"


def step(loads: Loads, width: int = WIDTH, hidden: int = HIDDEN, group: dist.ProcessGroup | None = None) -> None:
    """Runs on each rank: a training step of the layer, with the backward pass written out."""
    r, E = dist.get_rank(group), len(loads[0])
    mine = experts_of(E, group)
    sent = [sum(loads[r][e] for e in experts) for experts in _placed(E, dist.get_world_size(group))]
    received = [sum(of_rank[e] for e in mine) for of_rank in loads]
    per_expert = [sum(of_rank[e] for of_rank in loads) for e in mine]
    exchange_counts(E, group)
    x = all_to_all(torch.empty(sum(sent), width), received, sent, group)
    y = torch.empty_like(x)
    hiddens = [forward(part, out, hidden) for part, out in _pieces(per_expert, x, y)]
    all_to_all(y, sent, received, group)
    dy, dx = all_to_all(torch.empty(sum(sent), width), received, sent, group), torch.empty_like(x)
    for (part, dpart, out), h in zip(_pieces(per_expert, x, dy, dx), hiddens, strict=True):
        backward(part, h, dpart, out)
    all_to_all(dx, sent, received, group)


def exchange_counts(E: int, group: dist.ProcessGroup | None) -> None:
    counts = torch.empty(E, dtype=torch.int64)
    dist.all_to_all_single(torch.empty_like(counts), counts, group=group)


def forward(x: Tensor, y: Tensor, hidden: int) -> Tensor:
    """The two matrix products of an expert; returns its hidden layer."""
    h = x @ x.new_empty(x.shape[1], hidden)
    torch.mm(h, x.new_empty(hidden, x.shape[1]), out=y)
    return h


def backward(x: Tensor, h: Tensor, dy: Tensor, dx: Tensor) -> None:
    """Its four matrix products: the gradients of both matrices, of the hidden layer and of the input."""
    up, down = x.new_empty(x.shape[1], h.shape[1]), x.new_empty(h.shape[1], x.shape[1])
    dh = dy @ down.T
    torch.mm(dh, up.T, out=dx)
    h.T @ dy, x.T @ dh


def _pieces(sizes: Sequence[int], *tensors: Tensor) -> list[tuple[Tensor, ...]]:
    """The parts of the tensors for each expert that has any rows."""
    cut = [torch.split(t, list(sizes)) for t in tensors]
    return [pieces for pieces in zip(*cut, strict=True) if len(pieces[0])]


def _placed(E: int, K: int) -> list[range]:
    return [range(r * E // K, (r + 1) * E // K) for r in range(K)]


def loaded(loads: Loads, width: int = WIDTH, hidden: int = HIDDEN, on: str = CLUSTER) -> Result:
    """The step on a simulated cluster with a rank for each row of ``loads``; ``.show()`` draws its timeline."""
    return run(step, loads, width, hidden, ranks=len(loads), on=on, fake=True)


# ---- what imbalance costs


def skewed(ranks: int, experts: int, tokens: int, share: float) -> list[list[int]]:
    """Loads in which expert 0 gets ``share`` of every rank's rows, and the others share the rest evenly."""
    first = round(share * tokens)
    rest = even_loads(ranks, experts - 1, tokens - first)
    return [[first, *of_rank] for of_rank in rest]


def imbalance(loads: Loads) -> float:
    """Rows of the busiest rank divided by the mean: from 1, even, to K, the worst."""
    received = [r.received for r in rows(loads)]
    return max(received) * len(received) / sum(received)


def imbalance_table(
    shares: Sequence[float] = (1 / 8, 1 / 4, 1 / 2, 1), ranks: int = 8, line: Callable[[list[int]], float] | None = None
) -> Table:
    """A step of ``ranks`` ranks with one expert each, where expert 0 gets a growing share of all tokens; and the same
    with a capacity factor of 1.25. ``line``: a learner's ``imbalance``, a function of the ranks' rows."""
    cluster, cells = find(CLUSTER), list[list[str]]()
    even = step_seconds(even_loads(ranks, ranks, TOKENS), WIDTH, HIDDEN, cluster)
    for share in shares:
        loads = skewed(ranks, ranks, TOKENS, share)
        kept, dropped = with_capacity(loads, round(1.25 * TOKENS / ranks))
        seconds, limited = (step_seconds(n, WIDTH, HIDDEN, cluster) for n in (loads, kept))
        cells.append(
            [f"{100 * share:g} %", *([f"{line([r.received for r in rows(loads)]):.2f}"] if line else []),
             f"{imbalance(loads):.2f}", f"{seconds * 1e3:.2f}", f"{seconds / even:.2f}",
             f"{limited * 1e3:.2f}", f"{100 * dropped / (ranks * TOKENS):.0f} %"]
        )  # fmt: skip
    yours = ["by your line"] if line else []
    head = [
        "expert 0 gets",
        *yours,
        "busiest rank, by the mean",
        "step, ms",
        "times even",
        "with capacity 1.25, ms",
        "dropped",
    ]
    return Table(f"One layer of {ranks} experts on {ranks} simulated A100, {TOKENS} tokens each", head, cells)


def imbalance_chart(
    shares: Sequence[float] = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1),
    ranks: int = 8,
    line: Callable[[list[int]], float] | None = None,
) -> Chart:
    """The same as curves, in per cent: of the even step's time, and of all tokens that are dropped. By ``line``, a step
    takes as many times the even one as the busiest rank has times the mean rows."""
    cluster, found = find(CLUSTER), dict[str, dict[float, float]]()
    even = step_seconds(even_loads(ranks, ranks, TOKENS), WIDTH, HIDDEN, cluster)
    for share in shares:
        loads = skewed(ranks, ranks, TOKENS, share)
        kept, dropped = with_capacity(loads, round(1.25 * TOKENS / ranks))
        values = {
            "step": step_seconds(loads, WIDTH, HIDDEN, cluster) / even,
            "step by your line": line([r.received for r in rows(loads)]) if line else None,
            "step, capacity 1.25": step_seconds(kept, WIDTH, HIDDEN, cluster) / even,
            "tokens dropped, capacity 1.25": dropped / (ranks * TOKENS),
        }
        for name, value in values.items():
            if value is not None:
                found.setdefault(name, {})[100 * share] = 100 * value
    head = f"One layer of {ranks} experts on {ranks} simulated A100, {TOKENS} tokens each"
    y = "% of even step, of tokens"
    return curves(found, "% of all tokens want expert 0", y, head, spoken={"step": 50.0} if 1 / 2 in shares else None)
