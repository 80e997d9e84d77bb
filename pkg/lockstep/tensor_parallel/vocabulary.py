"""Vocabulary parallelism: token embedding, output layer and cross-entropy, with the vocabulary cut among the ranks.

    V      size of the vocabulary; rank r has its share of it, from ``first`` on
    h, n   width; tokens of a batch, b·T
    z      scores (n, V): rank r has its columns of them, (n, V/K), and no rank ever has all

    embedding    1 zeros for a token of another rank       2 g: of K summands, one isn't zero
    scores       3 f, then this rank's columns of X·Eᵀ: a column-parallel layer
    loss         mean over n of  log Σ_v exp(z_v) - z_target,  from three numbers for each token:

                 4 the largest score          all-reduce, max      so that no exp overflows
                 5 the target's score         all-reduce, sum      one rank has it, the others add 0
                 6 Σ exp(z - largest)         all-reduce, sum

                 3·n numbers are all-reduced; all scores would be V·n. The gradient needs no communication:
                 exp(z - largest)/Σ is this rank's part of the softmax, less 1 at the target if it is this rank's.

Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3: "we fuse the output of the parallel GEMM with the
cross entropy loss". Megatron Core's names: ``VocabParallelEmbedding``, ``vocab_parallel_cross_entropy``.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import Group, own, reduce_from_region
from lockstep.tensor_parallel.linear import taken


class VocabParallelEmbedding(nn.Module):
    """This rank's rows of ``embedding``: token numbers (...) to (..., width), alike on all ranks. ``leave``: the region
    function that adds up the ranks' summands."""

    def __init__(self, embedding: nn.Embedding, group: Group = None, leave: Any = reduce_from_region) -> None:
        super().__init__()
        self.group, self.leave, self.mine = group, leave, own(embedding.num_embeddings, group)
        self.weight = taken(embedding.weight[self.mine])  # (V/K, width)

    def forward(self, tokens: Tensor) -> Tensor:
        place, elsewhere = placed(tokens, self.mine)
        meant = F.embedding(place, self.weight).masked_fill(elsewhere.unsqueeze(-1), 0)  # 1
        out: Tensor = self.leave(meant, group=self.group)  # 2
        return out


def vocab_parallel_cross_entropy(z: Tensor, tokens: Tensor, V: int, group: Group = None) -> Tensor:
    """The mean cross-entropy in nats of scores whose columns are divided among the ranks of ``group``: z (..., V/K) for
    this rank's share of V tokens, and the true ``tokens`` (...). The same on every rank."""
    return cross_entropy_of_columns(z.flatten(0, -2), tokens.flatten(), own(V, group).start, group)


def cross_entropy_of_columns(scores: Tensor, targets: Tensor, first: int, group: Group = None) -> Tensor:
    """The same for scores (n, v) of the tokens from ``first`` on, and true tokens (n,): a lab's answer."""
    mine = slice(first, first + scores.shape[1])
    loss: Tensor = VocabParallelCrossEntropy.apply(scores, targets, mine, group)  # type: ignore[no-untyped-call]
    return loss


class VocabParallelCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, tokens: Tensor, mine: slice, group: Group) -> Tensor:
        place, elsewhere = placed(tokens, mine)
        largest = z.amax(1)  # (n,)
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)  # 4
        z = z - largest.unsqueeze(1)
        target = z.gather(1, place.unsqueeze(1)).squeeze(1).masked_fill(elsewhere, 0)
        dist.all_reduce(target, group=group)  # 5
        exp = z.exp_()
        total = exp.sum(1)
        dist.all_reduce(total, group=group)  # 6
        ctx.save_for_backward(exp.div_(total.unsqueeze(1)), place, elsewhere)
        return (total.log() - target).mean()

    @staticmethod
    def backward(ctx: Any, *dl: Tensor) -> Any:
        softmax, place, elsewhere = ctx.saved_tensors
        target = torch.ones_like(place, dtype=softmax.dtype).masked_fill(elsewhere, 0).unsqueeze(1)
        dz = softmax.scatter_add(1, place.unsqueeze(1), -target)
        return dz.mul_(dl[0] / len(dz)), None, None, None


def placed(tokens: Tensor, mine: slice) -> tuple[Tensor, Tensor]:
    """The row of each token on this rank, 0 for tokens of other ranks; and the mask of those."""
    elsewhere = (tokens < mine.start) | (tokens >= mine.stop)
    return (tokens - mine.start).masked_fill(elsewhere, 0), elsewhere
