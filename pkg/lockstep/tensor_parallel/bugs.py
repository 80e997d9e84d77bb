"""Ten ways to get tensor parallelism a little wrong, and two ways to get it right. All losses fall.

A program is ``parallel(model, tokens, following, group)``: each rank of ``group`` has the whole GPT and the whole
batch, takes its part, and computes the loss and all gradients, whole, as it sees them: {name: gradient}, by the names
of ``model.named_parameters()``. What another rank has alone, it is given. ``serial(model, tokens, following)`` does the
same on one rank.

    wrong                    what it does                                          seen only
    bias_in_the_sum          adds the bias of a row-parallel layer on each rank    where a bias isn't zero
    no_f                     leaves f out: gradients are summands                  in gradients
    in_order_of_ranks        leaves the gradient of queries, keys and values as    in gradients, not in their norms
                             ranks gather it: rank 0's of all three come first
    eps_forgotten            takes eps for 0 in the gradient of a norm's weights   there, in a late digit
    qkv_at_even_places       cuts queries, keys and values as if they were one
    norms_on_rank_0          sequence parallel, norms' gradients are added up      in gradients of norms, not on rank 0
                             on rank 0 alone
    first_token_for_others   embeds another rank's token as the first of its own
    two_ranks                adds the neighbour's summand, not all                 with three ranks or more
    no_remainder             cuts into equal parts, and drops what is left         where sizes don't divide
    whole_world              all-reduces among all ranks, whatever the group       in a group of some ranks

    right
    in_parts_of_the_sequence                                    other collectives
    bias_in_parts            each rank adds 1/K of the bias     not to the last bit

What they compute isn't timed (``_disable_current_modes``): a test is about numbers, and runs each often.

A wrong gradient still goes downhill, mostly: that is why a loss that falls proves nothing (``losses_table``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import _disable_current_modes

from lockstep.datasets import library_text, text_batch
from lockstep.models import GPT, Block, next_token_loss
from lockstep.tables import Table
from lockstep.tensor_parallel.attention import heads_of, stretch
from lockstep.tensor_parallel.f_and_g import Copy, Group, copy_to_region, reduce_from_region
from lockstep.tensor_parallel.linear import (
    PLAIN,
    ColumnParallelLinear,
    ReplicatedNorm,
    RowParallelLinear,
    Style,
    Which,
)
from lockstep.tensor_parallel.sequence import SEQUENCE, SequenceParallelGPT
from lockstep.tensor_parallel.transformer import ParallelGPT, ParallelMLP
from lockstep.tensor_parallel.vocabulary import VocabParallelEmbedding, placed
from lockstep.worlds import run

Gradients = dict[str, Tensor]
Parallel = Callable[[GPT, Tensor, Tensor, Group], tuple[Tensor, Gradients]]
Cut = Callable[[Any, Group], ParallelGPT]  # from the layers of a GPT


def serial(model: GPT, tokens: Tensor, following: Tensor) -> tuple[Tensor, Gradients]:
    """Loss and gradients on one rank."""
    with _disable_current_modes():
        loss = next_token_loss(model(tokens), following)
        names, parameters = zip(*model.named_parameters(), strict=True)
        return loss.detach(), dict(zip(names, torch.autograd.grad(loss, parameters), strict=True))


def program(cut: Cut, everywhere: bool = False) -> Parallel:
    """That of a model in parts. ``everywhere``: it forgets the group."""

    def parallel(
        model: GPT, tokens: Tensor, following: Tensor, group: Group = None
    ) -> tuple[Tensor, Gradients]:  # fmt: skip
        with _disable_current_modes():
            ours, places = parts_of(model, cut, None if everywhere else group)
            loss = ours.loss(tokens, following)
            loss.backward()  # type: ignore[no-untyped-call]
            return loss.detach(), whole_gradients(model, ours, places, group)

    return parallel


# ---- parts, and where they belong


def parts_of(model: GPT, cut: Cut, group: Group) -> tuple[ParallelGPT, list[Tensor]]:
    """This rank's part of ``model``, and the place of each of its numbers in the whole: ``model`` is cut while its
    numbers are their own places, and then they are put in."""
    parameters, n = list(model.parameters()), 0
    kept = [parameter.data for parameter in parameters]
    for parameter in parameters:
        parameter.data = torch.arange(n, n + parameter.numel(), dtype=torch.float64).view_as(parameter)
        n += parameter.numel()
    try:
        ours = cut(iter(model), group)
    finally:
        for parameter, numbers in zip(parameters, kept, strict=True):
            parameter.data = numbers
    whole = torch.cat([numbers.flatten() for numbers in kept])
    own = list(ours.parameters())
    places = [parameter.long() for parameter in own]
    for parameter, there in zip(own, places, strict=True):
        parameter.data = whole[there]
    return ours, places


def whole_gradients(model: GPT, ours: ParallelGPT, places: list[Tensor], group: Group) -> Gradients:
    """This rank's own, and for the rest those of the first rank that has them."""
    named = dict(model.named_parameters())
    sizes = [parameter.numel() for parameter in named.values()]
    flat = torch.full((sum(sizes),), torch.nan, dtype=torch.float64)  # nan: this rank doesn't have it
    for parameter, there in zip(ours.parameters(), places, strict=True):
        flat[there] = torch.zeros_like(parameter).double() if parameter.grad is None else parameter.grad.double()
    all_ranks = flat.new_empty(dist.get_world_size(group), len(flat))
    dist.all_gather_into_tensor(all_ranks, flat, group=group)
    for of_rank in all_ranks:
        flat = torch.where(flat.isnan(), of_rank, flat)
    parts = torch.split(flat.nan_to_num(0), sizes)
    return {name: part.view_as(p).to(p.dtype) for (name, p), part in zip(named.items(), parts, strict=True)}


# ---- right ones


class BiasInParts(RowParallelLinear):
    def forward(self, x: Tensor) -> Tensor:
        assert self.bias is not None
        share = copy_to_region(self.bias, self.group) / dist.get_world_size(self.group)
        return reduce_from_region(F.linear(x, self.weight) + share, self.group)


# ---- wrong ones


class BiasInTheSum(RowParallelLinear):
    def forward(self, x: Tensor) -> Tensor:
        return reduce_from_region(F.linear(x, self.weight, self.bias), self.group)


class NoF(ColumnParallelLinear):
    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class AtEvenPlaces(ColumnParallelLinear):
    def __init__(self, linear: nn.Linear, group: Group = None, mine: Which | None = None) -> None:
        super().__init__(linear, group)


class SumsOfTwo(RowParallelLinear):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = Neighbours.apply(F.linear(x, self.weight), self.group)  # type: ignore[no-untyped-call]
        return y if self.bias is None else y + self.bias


class Neighbours(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        K, r = dist.get_world_size(group), dist.get_rank(group)
        if K == 1:
            return x.clone()
        theirs = torch.empty_like(x)
        right, left = (r + 1) % K, (r - 1) % K
        for work in dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, x.contiguous(), group=group, group_peer=right),
                dist.P2POp(dist.irecv, theirs, group=group, group_peer=left),
            ]
        ):
            work.wait()
        return x + theirs

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        return dy[0], None


class NormOnRank0(ReplicatedNorm):
    def forward(self, x: Tensor) -> Tensor:
        weight, bias = (OnRank0.apply(p, self.group) for p in (self.weight, self.bias))  # type: ignore[no-untyped-call]
        return F.layer_norm(x, self.normalized_shape, weight, bias, self.eps)


class OnRank0(Copy):
    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        total = dy[0].clone()
        dist.reduce(total, group=ctx.group, group_dst=0)
        return (total if dist.get_rank(ctx.group) == 0 else dy[0]), None


class EpsForgotten(ReplicatedNorm):
    """Its backward pass is written by hand: for the weights' gradient it divides by the deviation without eps."""

    def forward(self, x: Tensor) -> Tensor:
        without = F.layer_norm(x.detach(), self.normalized_shape, self.weight, eps=0)
        right = F.layer_norm(x, self.normalized_shape, self.weight.detach(), self.bias, self.eps)
        return right + without - without.detach()


class EqualColumns(ColumnParallelLinear):
    def __init__(self, linear: nn.Linear, group: Group = None) -> None:
        super().__init__(linear, group, equal(linear.out_features, group))


class EqualRows(RowParallelLinear):
    def __init__(self, linear: nn.Linear, group: Group = None) -> None:
        super().__init__(linear, group, equal(linear.in_features, group))


class EqualParts(ParallelMLP):
    def __init__(self, up: nn.Linear, down: nn.Linear, group: Group) -> None:
        super().__init__(up, down, F.gelu, group, Style(EqualColumns, EqualRows, ReplicatedNorm))


def equal(n: int, group: Group) -> slice:
    each = n // dist.get_world_size(group)
    return slice(dist.get_rank(group) * each, (dist.get_rank(group) + 1) * each)


class FirstToken(VocabParallelEmbedding):
    def forward(self, tokens: Tensor) -> Tensor:
        place, _ = placed(tokens, self.mine)
        return reduce_from_region(F.embedding(place, self.weight), self.group)


def with_first_token(layers: Any, group: Group) -> ParallelGPT:
    layers = list(layers)
    model = ParallelGPT(layers, group)
    model.token = FirstToken(layers[0].token, group)
    return model


def with_mlps(mlp: Callable[[nn.Linear, nn.Linear, Group], nn.Module]) -> Cut:
    """A model whose MLPs are cut in another way."""

    def cut(layers: Any, group: Group) -> ParallelGPT:
        layers = list(layers)
        model = ParallelGPT(layers, group)
        for ours, whole in zip(model.blocks, layers[1:-1], strict=True):
            ours.mlp = mlp(whole.up, whole.down, group)
        return model

    return cut


def gathered_rank_by_rank(base: Parallel) -> Parallel:
    """It gathers rank by rank, and forgets that each rank has rows of queries, of keys and of values."""

    def parallel(
        model: GPT, tokens: Tensor, following: Tensor, group: Group = None
    ) -> tuple[Tensor, Gradients]:  # fmt: skip
        loss, gradients = base(model, tokens, following, group)
        K = dist.get_world_size(group)
        for name, block in model.named_children():
            if isinstance(block, Block):
                H, d = block.heads, block.qkv.in_features // block.heads
                own = [heads_of(r, K, H, H)[0] for r in range(K)]
                gathered = [row for heads in own for part in range(3) for row in stretch(heads, d, part * H)]
                for kind in ("weight", "bias"):
                    gradients[f"{name}.qkv.{kind}"] = gradients[f"{name}.qkv.{kind}"][gathered]
        return loss, gradients

    return parallel


def styled(**layers: Any) -> Cut:
    return partial(ParallelGPT, style=PLAIN._replace(**layers))


in_parts_of_the_sequence = program(SequenceParallelGPT)
bias_in_parts = program(styled(row=BiasInParts))

bias_in_the_sum = program(styled(row=BiasInTheSum))
no_f = program(styled(column=NoF))
in_order_of_ranks = gathered_rank_by_rank(program(ParallelGPT))
eps_forgotten = program(styled(norm=EpsForgotten))
qkv_at_even_places = program(styled(column=AtEvenPlaces))
norms_on_rank_0 = program(partial(SequenceParallelGPT, style=SEQUENCE._replace(norm=NormOnRank0)))
first_token_for_others = program(with_first_token)
two_ranks = program(styled(row=SumsOfTwo))
no_remainder = program(with_mlps(EqualParts))
whole_world = program(ParallelGPT, everywhere=True)

RIGHT: Mapping[str, Parallel] = {
    "in_parts_of_the_sequence": in_parts_of_the_sequence,
    "bias_in_parts": bias_in_parts,
}
WRONG: Mapping[str, Parallel] = {
    "bias_in_the_sum": bias_in_the_sum,
    "no_f": no_f,
    "in_order_of_ranks": in_order_of_ranks,
    "eps_forgotten": eps_forgotten,
    "qkv_at_even_places": qkv_at_even_places,
    "norms_on_rank_0": norms_on_rank_0,
    "first_token_for_others": first_token_for_others,
    "two_ranks": two_ranks,
    "no_remainder": no_remainder,
    "whole_world": whole_world,
}


# ---- losses do not show the bugs

SIZES: dict[str, Any] = {"vocabulary": 128, "width": 20, "heads": 4, "layers": 1, "context": 12}
EXAMPLES, STEPS, RATE = 8, 20, 0.5


def train(parallel: Parallel, group: Group = None) -> list[float]:
    """On a rank: the losses of plain gradient descent with the gradients that this rank sees."""
    model, text = GPT(**SIZES), library_text(20_000) % SIZES["vocabulary"]
    losses = []
    for number in range(STEPS):
        loss, gradients = parallel(model, *text_batch(text, EXAMPLES, SIZES["context"], number), group)
        losses.append(loss.item())
        for name, parameter in model.named_parameters():
            parameter.data -= RATE * gradients[name]
    return losses


def losses_table(ranks: int = 4) -> Table:
    """Rank 0's loss at the beginning and over the last quarter of a training; and how far apart the ranks' are then."""
    rows = []
    for name, parallel in {**RIGHT, **WRONG}.items():
        by_rank = run(train, parallel, ranks=ranks, on="dgx-a100").values
        last = [sum(losses[-STEPS // 4 :]) / (STEPS // 4) for losses in by_rank]
        rows.append([name.replace("_", " "), f"{by_rank[0][0]:.3f}", f"{last[0]:.3f}", f"{max(last) - min(last):.0e}"])
    head = ["", "first loss", "last losses", "ranks differ by"]
    return Table(f"A small GPT on Python’s own source, {ranks} ranks, {STEPS} steps of gradient descent", head, rows)
