"""Hybrid sharding: shards inside a node, replicas across nodes. All-gathers stay on the fast links.

                     node 0            node 1
                  rank 0  rank 1    rank 2  rank 3
    parameters      A       B         A       B         inside: {0, 1}, {2, 3}      across: {0, 2}, {1, 3}

1. All-gathers and reduce-scatters run ``inside``, as in `fsdp`: here 2 shards, not 4.
2. The reduce-scatter leaves a shard of the sum over one node. An all-reduce of its n numbers ``across`` adds those of
   the other nodes. With ``prefetch`` it runs while the next unit's backward pass computes.

With G ranks a node a rank holds 1/G of the model states, not 1/K. To other nodes it sends 2·n·(nodes-1)/nodes numbers
of a unit, where n is N/G.
Source: Zhao et al., PyTorch FSDP (arXiv:2304.11277), section 3.2.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

from lockstep.errors import UsageError
from lockstep.sharded.fsdp import FullySharded, Unit


class HybridSharded(FullySharded):
    """FullySharded over ``inside``, the group of this rank's node, and replicated over ``across``, the group of the
    ranks with the same shards in the other nodes. `node_groups` makes both."""

    def __init__(
        self, model: nn.Module | Iterable[nn.Module], units: Iterable[nn.Module] = (), *,
        inside: dist.ProcessGroup, across: dist.ProcessGroup, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(model, units, group=inside, **options)
        self.across = across
        self._crossing: tuple[Unit, Tensor, Any] | None = None  # the all-reduce in flight between nodes

    def _landed(self, unit: Unit, total: Tensor) -> None:
        self._arrive()
        self._crossing = unit, total, dist.all_reduce(total, group=self.across, async_op=True)  # 2
        if not self.prefetch:
            self._arrive()

    def _arrive(self) -> None:
        if self._crossing is not None:
            (unit, total, transfer), self._crossing = self._crossing, None
            transfer.wait()
            super()._landed(unit, total.div_(dist.get_world_size(self.across)))

    def _finish(self) -> None:
        super()._finish()
        self._arrive()


def node_groups(ranks_a_node: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    """This rank's groups ``inside`` and ``across``, in a world of nodes with ``ranks_a_node`` ranks each. All ranks
    must call it, as they must any ``dist.new_group``."""
    world, rank = dist.get_world_size(), dist.get_rank()
    if ranks_a_node < 1 or world % ranks_a_node:
        raise UsageError(f"{world} ranks do not fill nodes of {ranks_a_node}.", "Take a number that divides the ranks.")
    nodes = [list(range(first, first + ranks_a_node)) for first in range(0, world, ranks_a_node)]
    inside = [dist.new_group(node) for node in nodes][rank // ranks_a_node]
    across = [dist.new_group(list(row)) for row in zip(*nodes, strict=True)][rank % ranks_a_node]
    return inside, across
