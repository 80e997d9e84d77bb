"""A chunk of a GPT on one tensor-parallel rank: some of its layers, by unit 10, with dropout and recomputation.

    the first chunk begins with the embedding        recompute "full"        a layer keeps its input only
    the last one ends with the scores                          "selective"   attention its queries, keys and values

With sequence parallelism the gradients of norms and of biases after a reduce-scatter are partial sums. Here they are
added up once in a step, not for each micro-batch as in ``tensor_parallel.sequence``: ``partial_sums`` names them
(Megatron Core's ``finalize_model_grads``).

With context parallelism a rank has some of the positions. Each layer gathers the keys and values of all of them, and
sums up their gradients (the way of Llama 3, arXiv:2407.21783, section 3.3.2); all else is position by position.

Where the positions cannot be shared out evenly, the first ranks have one more: for the gather all send as many, padded.
Heads and vocabulary may be cut unequally, too (unit 10). An embedding that is tied is one parameter where a chunk has
both ends; else the first and the last chunk have a copy each, whose gradients ``chunk_state`` adds up.

With experts the MLP of each layer is an ``ExpertLayer`` (``expert_layer``): its rows travel, not its matrices.

Dropout and attention's scores are as few kernels as a GPU has for them, since each costs time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.hybrid.expert_layer import ExpertLayer
from lockstep.hybrid.grid import GPTSize, Grid, layers_of_chunks
from lockstep.models import Block, Embedding, Head
from lockstep.sharded.activation_checkpointing import checkpoint
from lockstep.tensor_parallel.attention import Core, causal
from lockstep.tensor_parallel.dropout import Dropout, Streams
from lockstep.tensor_parallel.f_and_g import Group, gather_from_sequence, own, reduce_scatter_to_sequence, share
from lockstep.tensor_parallel.linear import PLAIN, ReplicatedNorm, Style
from lockstep.tensor_parallel.sequence import SequenceColumn, SequenceRow, T
from lockstep.tensor_parallel.transformer import ParallelGPT
from lockstep.tensor_parallel.vocabulary import vocab_parallel_cross_entropy

Groups = Mapping[str, dist.ProcessGroup]


def layers_of(model: GPTSize, at: int, each: Sequence[int], seed: int = 0) -> Iterator[nn.Module]:
    """The layers of place ``at`` of places with ``each`` so many, with the parameters of ``models.GPT``."""
    dtype, first = getattr(torch, model.dtype), sum(each[:at])
    if at == 0:
        yield Embedding(model.vocab, model.seq, model.hidden, seed, dtype)
    for index in range(first, first + each[at]):
        yield Block(model.hidden, model.heads, seed, index + 1, dtype)
    if at == len(each) - 1:
        head = Head(model.hidden, model.vocab, seed, model.layers + 1, dtype)
        if model.tied:
            head.scores.weight = Embedding(model.vocab, model.seq, model.hidden, seed, dtype).token.weight
        yield head


class LaterRow(SequenceRow):
    """``SequenceRow`` whose bias has a partial sum as its gradient."""

    def forward(self, x: Tensor) -> Tensor:
        y = reduce_scatter_to_sequence(F.linear(x, self.weight), T, self.group)
        return y if self.bias is None else y + self.bias


LATER = Style(SequenceColumn, LaterRow, ReplicatedNorm)


class GPTChunk(ParallelGPT):
    """Maps tokens (b, T) at the first place, else (b, T, h), to (b, T, h), or at the last place to scores
    (b, T, vocab/tp). With sequence parallelism (b, T/tp, h) instead of (b, T, h). T: the positions of a rank of the
    group "cp". ``groups``: by axis."""

    def __init__(self, model: GPTSize, grid: Grid, at: int, places: int, groups: Groups, streams: Streams) -> None:
        group, context = groups["tp"], groups["cp"]
        self.sequence, self.recompute = grid.sequence_parallel, grid.recompute
        self.generators = (streams.everywhere, streams.parts)
        self.begin = own(model.seq, context).start
        between = streams.parts if self.sequence else streams.everywhere
        drop = FusedDropout(model.dropout, between)
        core: Core = Scores(FusedDropout(model.dropout, streams.parts), self.begin)
        if model.attention == "flash":
            core = causal if grid.cp == 1 else partial(causal_from, self.begin)
        if grid.cp > 1:
            core = partial(over_context, core, context, model.seq)
        if self.recompute == "selective":
            core = partial(checkpoint, core, generators=self.generators)
        style = LATER if self.sequence else PLAIN
        each = layers_of_chunks(model, grid, places)
        super().__init__(layers_of(model, at, each), group, style, core, drop)
        self.drop, self.first, self.last, self.tied = drop, at == 0, at == places - 1, model.tied
        if self.tied and self.first and self.last:
            self.scores.weight = self.token.weight
        for index, block in enumerate(self.blocks if model.experts else (), sum(each[:at]) + 1):
            block.mlp = ExpertLayer(model, index, groups["ep"])
        if self.first and self.sequence:
            self.token.leave = reduce_scatter_to_sequence

    def forward(self, x: Tensor) -> Tensor:
        x = self.drop(self.embedded(x)) if self.first else x
        for block in self.blocks:
            x = checkpoint(block, x, generators=self.generators) if self.recompute == "full" else block(x)
        out: Tensor = self.scores(self.norm(x)) if self.last else x
        return out

    def embedded(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[T]
        mine = own(length, self.group) if self.sequence else slice(0, length)
        out: Tensor = self.token(tokens) + self.position[self.begin + mine.start : self.begin + mine.stop]
        return out

    def partial_sums(self) -> list[nn.Parameter]:
        """The parameters whose gradients are to be summed over the tensor-parallel group."""
        if not self.sequence:
            return []
        found = [self.position] if self.first else []
        for module in self.modules():
            if isinstance(module, ReplicatedNorm):
                found += [module.weight, module.bias]
            elif isinstance(module, LaterRow) and module.bias is not None:
                found.append(module.bias)
            elif isinstance(module, ExpertLayer):
                found.append(module.gate)
        return found

    def embedding_elsewhere(self) -> list[nn.Parameter]:
        """The tied embedding, where another stage has the same."""
        if not self.tied or self.first == self.last:
            return []
        layer: Any = self.token if self.first else self.scores
        return [layer.weight]

    def of_experts(self) -> list[nn.Parameter]:
        """The parameters of the experts: other ranks have the same as of the rest."""
        return [p for module in self.modules() if isinstance(module, ExpertLayer) for p in (module.up, module.down)]


def loss_of(scores: Tensor, targets: Tensor, vocab: int, group: Group) -> Tensor:
    """The mean cross-entropy of scores (b, T, vocab/tp), in float32 at least."""
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    return vocab_parallel_cross_entropy(scores, targets, vocab, group)


class Scores(nn.Module):
    """Attention with a matrix of T x S scores for each head: (b, heads, T, d), and twice (b, heads, S, d), to the first
    shape. ``begin``: the position of the first query."""

    def __init__(self, drop: nn.Module, begin: int) -> None:
        super().__init__()
        self.drop, self.begin = drop, begin

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        b, heads, length, d = query.shape
        query, key, value = (x.reshape(b * heads, -1, d) for x in (query, key, value))
        future = torch.ones(length, key.shape[1], dtype=torch.bool).triu_(1 + self.begin)
        nothing = query.new_empty(b * heads, length, key.shape[1])
        scores = torch.baddbmm(nothing, query, key.transpose(1, 2), beta=0, alpha=d**-0.5)
        attention = self.drop(scores.masked_fill(future, float("-inf")).softmax(-1))
        return torch.bmm(attention, value).view(b, heads, length, d)


def causal_from(begin: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """``causal``, where the first query is at the position ``begin``."""
    past = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool).tril_(begin)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=past)


def over_context(core: Core, context: Group, seq: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """``core`` of this rank's queries with the keys and values of all ranks of ``context``, ``seq`` positions."""
    return core(query, *(all_positions(x, seq, context) for x in (key, value)))


def all_positions(x: Tensor, seq: int, context: Group) -> Tensor:
    """(b, heads, a rank's share of seq, d) to (b, heads, seq, d). Shares that are one shorter are sent with padding."""
    K = dist.get_world_size(context)
    if seq % K == 0:
        return gather_from_sequence(x, 2, context)
    longest = -(-seq // K)
    pieces = torch.split(gather_from_sequence(F.pad(x, (0, 0, 0, longest - x.shape[2])), 2, context), longest, 2)
    sizes = [s.stop - s.start for s in (share(seq, K, r) for r in range(K))]
    return torch.cat([piece[:, :, :size] for piece, size in zip(pieces, sizes, strict=True)], 2)


class FusedDropout(Dropout):
    """``Dropout`` in two kernels instead of four: the mask, and its product with x."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.p:
            return x
        kept = torch.empty(x.shape, dtype=torch.bool).bernoulli_(1 - self.p, generator=self.stream)
        out: Tensor = FusedMask.apply(x, kept, 1 / (1 - self.p))  # type: ignore[no-untyped-call]
        return out


class FusedMask(torch.autograd.Function):
    """x where ``kept``, times ``scale``, in one kernel: torch's for the backward pass of dropout, which is the same."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        out: Tensor = torch.ops.aten.native_dropout_backward(x, kept, scale)
        return out

    @staticmethod
    def backward(ctx: Any, *dy: Tensor) -> Any:
        (kept,) = ctx.saved_tensors
        return torch.ops.aten.native_dropout_backward(dy[0], kept, ctx.scale), None, None
