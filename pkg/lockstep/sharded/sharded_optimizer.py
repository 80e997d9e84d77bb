"""ZeRO's first stage as an optimizer, for a model that knows nothing of it: each rank updates its shard of everything.

    backward()      every rank has the gradient of its own rows, Ψ numbers
    step()          1 reduce-scatter ── 2 update n numbers ── 3 all-gather

    Ψ    numbers of all parameters together;  n = ceil(Ψ/K), a rank's shard of them

    bytes a rank, float32 with Adam          4Ψ + 4Ψ + 8Ψ/K
    numbers sent by a rank in a step         2·(K-1)·n, as many as by an all-reduce of the gradient

It takes the place of DDP and of ``torch.optim.Adam``. The parameters become views of one vector, and so do their
gradients: then 1 and 3 work in place. Elementwise optimizers (SGD, momentum, Adam) update a shard as they would the
whole vector. Nothing is hidden: 1 begins when the backward pass is over. ``zero.Zero`` wraps the model, and reduces
bucket by bucket during the backward pass.

torch's ``ZeroRedundancyOptimizer`` cuts no parameter: each belongs to one rank, which broadcasts it after the update,
and DDP all-reduces the gradients (its docstring, torch/distributed/optim/zero_redundancy_optimizer.py).

Source: Rajbhandari et al., ZeRO (SC 2020, arXiv:1910.02054), section 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.sharded.zero import Optimizer, StateSharded


class ShardedOptimizer:
    """Updates ``parameters``, which are alike on all ranks of ``group``, by the mean of the ranks' gradients.

    ``optimizer(tensors)`` makes an elementwise optimizer. It is given this rank's shard alone, (n,), and keeps state
    for no more than that. A parameter without a gradient counts as one whose gradient is zero.

    ::

        optimizer = ShardedOptimizer(model.parameters(), lambda tensors: torch.optim.Adam(tensors, lr=1e-3))
        for x, y in batches:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()

    Raises UsageError if there are no parameters, or of several dtypes; and at a second step without ``zero_grad``.
    """

    def __init__(
        self, parameters: Iterable[Tensor], optimizer: Optimizer, group: dist.ProcessGroup | None = None
    ) -> None:
        trained, K, r = [p for p in parameters if p.requires_grad], dist.get_world_size(group), dist.get_rank(group)
        if len(dtypes := {p.dtype for p in trained}) != 1:
            told = f"of several dtypes ({', '.join(sorted(map(str, dtypes)))})" if dtypes else "not there"
            raise UsageError(f"The parameters to be sharded are {told}.", "Give an optimizer those of one dtype.")
        self.group, self.bucket = group, StateSharded(trained, K, K, r)
        self.optimizer: Any = optimizer([self.bucket.shard])

    def zero_grad(self) -> None:
        self.bucket.empty()

    def step(self) -> None:
        for p in self.bucket.parameters:
            self.bucket.take(p)
        self.bucket.launch(self.group)  # 1: a reduce-scatter leaves this rank's shard
        self.bucket.land()
        self.optimizer.step()  # 2: of the shard alone
        self.bucket.publish(self.group).wait()  # 3: an all-gather

    def state_dict(self) -> dict[str, Any]:
        """This rank's part of the optimizer's state, for the same rank of as many."""
        state: dict[str, Any] = self.optimizer.state_dict()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(state)
