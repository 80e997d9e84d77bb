"""The buckets of a chunk, their sums, and its optimizer.

    zero 0, 1          one bucket, and one for the experts; with overlap those of each layer
    zero 2, 3          those of each layer, whose gradients are sharded; with 3 the weights, too

An embedding that another stage has, too, has a bucket of its own: each of the two stages sums its gradients over the
replicas, shard by shard if it is sharded, and then the two sums are added up (Megatron Core's embedding group, and
``_does_param_require_new_bucket`` of its distributed optimizer).

What is a partial sum over the tensor-parallel group has a bucket of its own, the first; with stage 3 so has what is
small, and stays whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import torch.distributed as dist
from torch import Tensor, nn

from lockstep.hybrid.gpt_chunk import GPTChunk, Groups
from lockstep.hybrid.gradient_buckets import Bucket, ShardedAdam, ShardedBucket
from lockstep.hybrid.grid import Grid
from lockstep.hybrid.sharded_weights import FullyShardedBucket, Unit, in_a_row


class ChunkState:
    """Buckets and optimizer of a chunk. ``groups``: by axis."""

    def __init__(self, chunk: GPTChunk, groups: Groups, grid: Grid) -> None:
        self.groups, self.summing, sharded = groups, False, grid.zero > 0
        self.experts = {id(p) for p in chunk.of_experts()}
        sums = chunk.partial_sums()
        self.partial = Bucket(sums, groups["dp"], sharded) if sums else None
        taken = {id(p) for p in sums}
        self.others: list[Bucket] = []
        small: list[Bucket] = []
        if grid.zero == 3:
            self.others += self._units(chunk, grid, taken)
            taken |= {id(p) for bucket in self.others for p in bucket.parameters}
            small = self._made(Bucket, chunk.parameters(), taken, sharded)
        else:
            by_layer, kind = grid.overlap or grid.zero == 2, ShardedBucket if grid.zero == 2 else Bucket
            elsewhere = self._made(kind, chunk.embedding_elsewhere(), taken, sharded)
            taken |= {id(p) for p in chunk.embedding_elsewhere()}
            for part in parts_of(chunk, by_layer):
                self.others += self._made(kind, part, taken, sharded)
            self.others += elsewhere
        shared = {id(p) for p in chunk.embedding_elsewhere()}
        self.elsewhere = [bucket for bucket in self.others if shared & {id(p) for p in bucket.parameters}]
        self.buckets = [*([self.partial] if self.partial else []), *small, *self.others]
        self.adam = ShardedAdam(self.buckets)
        self.travelling: Bucket | None = None  # of a sharded one no other is sent meanwhile
        for bucket in self.others if grid.overlap or grid.zero >= 2 else ():
            for p in bucket.parameters:
                p.register_post_accumulate_grad_hook(partial(self._arrived, bucket))  # type: ignore[no-untyped-call]

    def _made(
        self, kind: type[Bucket], parameters: Iterable[nn.Parameter], taken: set[int], sharded: bool
    ) -> list[Bucket]:
        """A bucket for ``parameters`` that are not ``taken``, and one for the experts among them."""
        left = [p for p in parameters if id(p) not in taken]
        both = {"dp": [p for p in left if id(p) not in self.experts], "edp": [p for p in left if id(p) in self.experts]}
        return [kind(some, self.groups[axis], sharded) for axis, some in both.items() if some]

    def _units(self, chunk: GPTChunk, grid: Grid, taken: set[int]) -> Iterator[FullyShardedBucket]:
        """The buckets of embedding, blocks and scores, which are whole only while these compute."""
        units, again = list[Unit](), grid.recompute == "full"
        layers: list[tuple[nn.Module, bool, bool]] = []
        layers += [(chunk.token, False, False)] if chunk.first else []  # its backward pass does not read the weights
        layers += [(block, again, True) for block in chunk.blocks]
        layers += [(chunk.scores, False, True)] if chunk.last else []
        for layer, recomputed, needed in layers:
            if chunk.tied and chunk.first and layer is getattr(chunk, "scores", None):
                units.append(Unit(layer, units[0].buckets, recomputed, needed))  # the embedding is the scores' matrix
                continue
            made = self._made(FullyShardedBucket, layer.parameters(), taken, True)
            buckets = [bucket for bucket in made if isinstance(bucket, FullyShardedBucket)]
            units.append(Unit(layer, buckets, recomputed, needed))
            yield from buckets
        if grid.overlap:
            in_a_row(units)

    def zero(self) -> None:
        for bucket in self.buckets:
            bucket.gradients.zero_()

    def sum_in_next_backward(self) -> None:
        """The last backward pass of the step begins."""
        self.summing = True

    def _arrived(self, bucket: Bucket, _: Tensor) -> None:
        bucket.missing -= 1
        if not bucket.missing:
            if isinstance(bucket, ShardedBucket):
                self.end_of_pass()
                self.travelling = bucket
            bucket.missing = len(bucket.parameters)
            bucket.pass_is_over(self.summing)

    def end_of_pass(self) -> None:
        """Of a backward pass: nothing that is sharded stays under way."""
        if self.travelling is not None:
            self.travelling.end_sum()
            self.travelling = None

    def reduce(self) -> None:
        """All sums that are not under way yet; afterwards every gradient is that of the whole batch."""
        if self.partial:
            dist.all_reduce(self.partial.gradients, group=self.groups["tp"])
        for bucket in self.buckets:
            bucket.reduce()
        for bucket in self.buckets:
            bucket.end_sum()
        for bucket in self.elsewhere:
            dist.all_reduce(bucket.own_gradients(), group=self.groups["embedding"])
        self.summing = False

    def update(self) -> None:
        self.adam.step()
        for bucket in self.buckets:
            bucket.gather()

    def make_whole(self) -> None:
        """All weights, for whoever wants to read them. All ranks of the chunk must call it."""
        for bucket in self.others:
            if isinstance(bucket, FullyShardedBucket):
                bucket.make_whole()


def parts_of(chunk: GPTChunk, overlap: bool) -> Iterator[list[nn.Parameter]]:
    """The parameters of each bucket."""
    if not overlap:
        yield list(chunk.parameters())
        return
    blocks = [list(block.parameters()) for block in chunk.blocks]
    inside = {id(p) for block in blocks for p in block}
    yield from blocks
    yield [p for p in chunk.parameters() if id(p) not in inside]
