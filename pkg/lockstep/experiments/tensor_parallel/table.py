"""Tensor parallelism against one rank: the same gradients and weights, for every layer and model of unit 10.

Each case trains two steps with momentum, in float64, on K ranks, every rank with the whole batch. The serial model
trains on rank 0 alone, which sends it to the others. They cut it as the parallel one was cut, once as it is and once
with gradients in place of weights: any difference is rounding, or a bug.

Few sizes are divisible by K: 13 tokens in the vocabulary, 5 heads, 9 filters, MLPs of 10 and 11 neurons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep import models
from lockstep.models import linear, next_token_loss
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.attention import Attention, ParallelAttention, kv_groups
from lockstep.tensor_parallel.conv import ParallelConvnet
from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.linear import PLAIN, ColumnParallelLinear, Style
from lockstep.tensor_parallel.overlapped import OVERLAPPED
from lockstep.tensor_parallel.sequence import KEEPING, SEQUENCE, SequenceParallelGPT
from lockstep.tensor_parallel.transformer import ParallelGPT, ParallelMLP
from lockstep.worlds import run

RANKS = (1, 2, 3, 4, 8)
STEPS, RATE, MOMENTUM = 2, 0.1, 0.9
F64 = torch.float64
BATCH, T, WIDTH, V = 3, 24, 10, 13


class Case(NamedTuple):
    """``serial`` builds the model of one rank, ``parallel`` cuts it; ``loss`` is that of the whole batch."""

    serial: Callable[[], Any]
    parallel: Callable[[Any, Group], nn.Module]
    loss: Callable[[Any], Tensor]
    possible: Callable[[int], bool] = lambda K: True


def vectors(model: nn.Module) -> Tensor:
    x = torch.randn(BATCH, T, WIDTH, dtype=F64, generator=torch.Generator().manual_seed(1))
    out: Tensor = model(x)
    return out.square().mean()


def pictures(model: nn.Module) -> Tensor:
    out: Tensor = model(torch.randn(BATCH, 1, 8, 8, dtype=F64, generator=torch.Generator().manual_seed(1)))
    return out.square().mean()


def text(model: nn.Module) -> Tensor:
    x = torch.randint(V, (BATCH, T + 1), generator=torch.Generator().manual_seed(1))
    if isinstance(model, ParallelGPT):
        return model.loss(x[:, :-1], x[:, 1:])
    return next_token_loss(model(x[:, :-1]), x[:, 1:])


def attention(heads: int, kv_heads: int, d: int = 2) -> Case:
    def serial() -> Attention:
        qkv = linear(WIDTH, (heads + 2 * kv_heads) * d, 0, 0, F64)
        return Attention(qkv, linear(heads * d, WIDTH, 0, 1, F64), heads, kv_heads)

    def parallel(whole: Attention, group: Group) -> nn.Module:
        sharers = kv_groups(kv_heads, group)
        return ParallelAttention(whole.qkv, whole.out, heads, kv_heads, group, sharers=sharers)

    def possible(K: int) -> bool:
        return kv_heads >= K or (K % kv_heads == 0 and heads % K == 0)

    return Case(serial, parallel, vectors, possible)


def gpt(style: Style = PLAIN, width: int = 10, heads: int = 5) -> Case:
    """With as many ranks as heads at most; in sequence parallelism K divides T."""
    cut = SequenceParallelGPT if style in (SEQUENCE, KEEPING) else ParallelGPT
    sizes: dict[str, Any] = {"vocabulary": V, "width": width, "heads": heads, "context": T, "dtype": F64}
    return Case(
        lambda: models.GPT(**sizes),
        lambda whole, group: cut(whole, group, style),
        text,
        lambda K: heads >= K and (cut is ParallelGPT or T % K == 0),
    )


CASES: Mapping[str, Case] = {
    "columns, gathered": Case(
        lambda: linear(WIDTH, 11, 0, 0, F64),
        lambda layer, group: ColumnParallelLinear(layer, group, gather_output=True),
        vectors,
    ),
    "columns, then rows": Case(
        lambda: models.mlp([WIDTH, 11, 5], dtype=F64),
        lambda whole, group: ParallelMLP(whole[0], whole[2], F.relu, group),
        vectors,
    ),
    "5 heads": attention(5, 5),
    "6 heads, 3 with keys": attention(6, 3),
    "8 heads, 2 with keys": attention(8, 2),
    "filters, then channels": Case(lambda: models.small_convnet(dtype=F64), ParallelConvnet, pictures),
    "GPT": gpt(),
    "GPT, overlapped": gpt(OVERLAPPED),
    "GPT, sequence parallel": gpt(SEQUENCE, 16, 8),
    "GPT, gathered once": gpt(KEEPING, 16, 8),
}


def differences(names: Sequence[str], group: Group = None) -> dict[str, float]:
    """On a rank: of each case the largest difference of a gradient or a weight from one rank's."""
    return {name: furthest(CASES[name], group) for name in names}


def furthest(case: Case, group: Group = None) -> float:
    serial = case.serial()
    ours = case.parallel(serial, group)
    train(ours, case.loss)
    if dist.get_rank(group) == 0:
        train(serial, case.loss)
    as_first_rank(serial, group)
    weights = case.parallel(serial, group).parameters()
    apart = [mine - wanted for mine, wanted in zip(ours.parameters(), weights, strict=True)]
    for parameter in serial.parameters():
        parameter.data = gradient(parameter)
    gradients = case.parallel(serial, group).parameters()
    apart += [gradient(mine) - wanted for mine, wanted in zip(ours.parameters(), gradients, strict=True)]
    return max(difference.abs().max().item() for difference in apart if difference.numel())


def as_first_rank(model: nn.Module, group: Group) -> None:
    """The weights and gradients that the model has on the group's rank 0."""
    parameters = list(model.parameters())
    for p in parameters:
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
    ours = [t for p in parameters for t in (p.detach(), gradient(p))]
    theirs = torch.cat([t.flatten() for t in ours])
    dist.broadcast(theirs, group=group, group_src=0)
    for mine, first in zip(ours, torch.split(theirs, [t.numel() for t in ours]), strict=True):
        mine.copy_(first.view_as(mine))


def train(model: nn.Module, loss: Callable[[Any], Tensor]) -> None:
    optimizer = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(model).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def beside_one_rank(ranks: Sequence[int] = RANKS, on: str = "dgx-a100") -> dict[str, dict[int, float]]:
    """By case and number of ranks, where that is possible: the largest difference on any rank."""
    found: dict[str, dict[int, float]] = {name: {} for name in CASES}
    for K in counted(ranks, "Training", each=3.0):
        names = [name for name, case in CASES.items() if case.possible(K)]
        for of_rank in run(differences, names, ranks=K, on=on).values:
            for name, far in of_rank.items():
                found[name][K] = max(far, found[name].get(K, 0.0))
    return found


def gradients_table(ranks: Sequence[int] = RANKS) -> Table:
    """``beside_one_rank`` in words; "–" where the layers cannot be cut so."""
    rows = [
        [name, *(f"{by_ranks[K]:.0e}" if K in by_ranks else "–" for K in ranks)]
        for name, by_ranks in beside_one_rank(ranks).items()
    ]
    title = f"{STEPS} steps with momentum, float64: how far gradients and weights are from one rank's, at most"
    return Table(title, ["", *(f"K = {K}" for K in ranks)], rows)
