"""The small GPT with its experts on K ranks: expert parallelism, and data parallelism for the rest.

    rank 0                      rank 1                      K = 2, 4 experts
    2 pieces of the text        2 other pieces              every rank its own tokens
    everything but experts      everything but experts      replicated: gradients are summed
    experts 0, 1                experts 2, 3                not replicated: tokens come and go

A step is compared with the same step on one rank, in gradients and in memory. Each rank's loss is that of its pieces,
divided by K, so that all losses add up to the mean over the batch (``expert_parallel``, (1)). The balancing loss is
that of all ranks' tokens.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.datasets import library_text, text_batch
from lockstep.events import Count
from lockstep.experiments.mixture_of_experts.table import furthest, numbered
from lockstep.experts.balance import parts_of_losses
from lockstep.experts.expert_parallel import add_up_gradients
from lockstep.experts.gpt import MixtureGPT, on_one_rank, on_ranks
from lockstep.models import next_token_loss
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

EXPERTS, K_OF_TOKEN, PIECES, CONTEXT, BALANCE = 8, 2, 8, 16, 0.01
Gradients = dict[str, list[Tensor]]


class Found(NamedTuple):
    ranks: int
    apart: float  # the largest difference of any gradient from one rank's
    parameters: int  # bytes on rank 0
    exchanged: Count  # all-to-alls of rank 0 and their bytes


def model_of(ranks: bool, dtype: torch.dtype = torch.float64) -> MixtureGPT:
    make = on_ranks() if ranks else on_one_rank()
    return MixtureGPT(EXPERTS, K_OF_TOKEN, "after", context=CONTEXT, dtype=dtype, make=make)


def batch() -> tuple[Tensor, Tensor]:
    return text_batch(library_text(10_000), PIECES, CONTEXT)


def step() -> Gradients:
    """Runs on each rank: its gradients after a backward pass, by the parameters' names in the one-rank model."""
    r, K = dist.get_rank(), dist.get_world_size()
    model = model_of(ranks=True)
    x, y = (t.chunk(K)[r] for t in batch())
    loss = next_token_loss(model(x), y) / K
    for routing in model.routings:
        loss = loss + BALANCE * parts_of_losses(routing.scores, routing.experts)[0]
    loss.backward()  # type: ignore[no-untyped-call]
    alone = [dist.new_group([rank]) for rank in range(K)][r]  # experts are not replicated
    add_up_gradients(model, alone)
    return {numbered(name, r * EXPERTS // K): [gradient(p)] for name, p in model.named_parameters()}


@cache
def alone() -> Gradients:
    """The gradients of the whole batch on one rank."""
    model, (x, y) = model_of(ranks=False), batch()
    loss = next_token_loss(model(x), y)
    for routing in model.routings:
        f = torch.bincount(routing.experts.flatten(), minlength=EXPERTS) / routing.experts.numel()
        loss = loss + BALANCE * EXPERTS * (f * routing.scores.softmax(-1).mean(0)).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    return {name: [gradient(p)] for name, p in model.named_parameters()}


def gradient(p: Tensor) -> Tensor:
    return torch.zeros_like(p) if p.grad is None else p.grad.clone()


@cache
def on(ranks: int) -> Found:
    """A step on ``ranks`` ranks; their number has to divide the experts and the pieces."""
    result, wanted = run(step, ranks=ranks, on="dgx-a100"), alone()
    apart = max(furthest(found, wanted) for found in result.values)
    return Found(ranks, apart, result.memory[0].peaks["parameters"], result.trace.counts()[0, "all_to_all"])


def gpt_table(ranks: tuple[int, ...] = (1, 2, 4)) -> Table:
    rows = [
        [str(f.ranks), f"{f.apart:.0e}", f"{f.parameters / 1e6:.2f}", str(f.exchanged.number),
         f"{f.exchanged.nbytes / 1e6:.3f}"]
        for f in map(on, counted(ranks, "Running", each=1.0))
    ]  # fmt: skip
    head = ["ranks", "gradients apart", "MB of parameters", "all-to-alls", "MB of them"]
    return Table(f"The small GPT with {EXPERTS} experts in its second block, top-{K_OF_TOKEN}, float64", head, rows)
