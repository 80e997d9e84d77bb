"""D-PSGD at work: digits on ranks that have different classes, over graphs with a large or a small spectral gap.

Gradients of different data add disagreement in each step, and gossip multiplies it by |λ₂|, so that it settles at about
γ/(1 - |λ₂|) times the difference of the gradients. The mean of the ranks' models trains almost as if all gradients had
been averaged; the models of single ranks are the worse, the smaller the gap.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experiments.without_waiting.consensus import graphs
from lockstep.tables import Table
from lockstep.without_waiting.gossip import Mixing, d_psgd, gossip_step, second_eigenvalue
from lockstep.without_waiting.problems import Digits, cluster
from lockstep.worlds import run

DEAR = ("star", "torus")  # not tried by default


def train(mixing: Mixing, problem: Digits, steps: int, rate: float) -> Tensor:
    """A program for every rank: its model after D-PSGD and one more step of gossip, so that the last gradient is not
    its own alone."""
    gradient = problem.of(dist.get_rank(), dist.get_world_size())
    last = mixing if isinstance(mixing, Tensor) else mixing[steps % len(mixing)]
    return gossip_step(d_psgd(gradient, problem.start(), steps, rate, mixing), last)


def d_psgd_table(
    ranks: int = 8, steps: int = 40, rate: float = 0.5, alpha: float | None = 0.1, tried: Mapping[str, Mixing] = {}
) -> Table:
    """D-PSGD over each graph: the loss over all examples at the mean of the models and at the worst of them, how far
    the models are apart, and what a rank has sent. The last row of ``graphs`` averages all models in each step."""
    problem = Digits(alpha=alpha)
    tried = tried or {name: mixing for name, mixing in graphs(ranks).items() if not name.startswith(DEAR)}
    rows = [_row(name, mixing, problem, ranks, steps, rate) for name, mixing in tried.items()]
    head = ["graph", "|λ₂|", "loss of the mean model", "of the worst rank's model", "disagreement",
            "models sent, the busiest rank"]  # fmt: skip
    data = "dealt out evenly" if alpha is None else f"divided by class, alpha = {alpha:g}"
    caption = f"D-PSGD, {ranks} ranks, {steps} steps at rate {rate:g}; examples {data}."
    return Table(caption, head, rows)


def _row(name: str, mixing: Mixing, problem: Digits, ranks: int, steps: int, rate: float) -> list[str]:
    result = run(train, mixing, problem, steps, rate, ranks=ranks, on=cluster())
    held = torch.stack(list(result.values))
    apart = (held - held.mean(0)).square().sum(1).mean().sqrt()
    sent = max(result.trace.sent(rank).nbytes for rank in range(ranks)) / held[0].nbytes
    gap = f"{second_eigenvalue(mixing):.3f}" if isinstance(mixing, Tensor) else "by turns"
    worst = max(problem.loss(w) for w in held)
    return [name, gap, f"{problem.loss(held.mean(0)):.3f}", f"{worst:.3f}", f"{apart:.3f}", f"{sent:g}"]
