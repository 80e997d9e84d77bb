"""A step that survives: fault-tolerant data parallelism as torchft does it, step by step.

    steps   the quorum: how many steps are in the weights of each replica group that is there, here one on each rank
    n       how many are up to date: those with the most steps. The others are behind

    (1)  heal: each one that is behind gets the weights of one that is up to date
    (2)  the gradient; zeros where it is of old weights
    (3)  all-reduce; each divides by n, not by how many there are
    (4)  vote: the ranks of a replica group decide whether all went well there
    (5)  commit: the step, healed weights too; or discard it, and stay at the weights before it

A group that died is missing from the next quorum: the others go on, with a smaller n. A group that comes back is
behind, and heals in the step in which it comes. A group that discards a step that others keep is behind in the next
one, and heals then, too. So weights with the same number of steps are the same. What a failure costs is the step in
which it happened: its gradients are lost, and nothing before it.

(1) may go on beside the forward pass. That is why the gradient is of old weights there, and counts for nothing in (2).

Cost: one message of |w| for each that is behind; one all-reduce of |w|; a vote inside each group.
Source: github.com/pytorch/torchft at 73dafea, torchft/manager.py (``allreduce`` has 2 and 3, ``_async_quorum`` 1,
``should_commit`` 4 and 5) and src/manager.rs (``compute_quorum_results``: who heals from whom; ``should_commit``: the
vote). There the optimizer's state travels with the weights (train_ddp.py), a step also needs ``min_replica_size``
groups that are up to date, and before the first step all groups but one heal (``init_sync``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor


def fault_tolerant_step(
    w: Tensor,
    gradient: Callable[[Tensor], Tensor],
    rate: float,
    steps: Sequence[int],
    all_reduce: Callable[[Tensor], None],
    vote: Callable[[bool], bool],
    group: dist.ProcessGroup | None = None,
) -> tuple[Tensor, int]:
    """The weights of this rank's replica group after one step of SGD, as a new tensor, and how many steps are in them.
    ``all_reduce`` sums over ``group``, in place, or raises RuntimeError; ``vote`` returns what the replica group
    decides. ``w`` stays as it was."""
    me, most = dist.get_rank(group), max(steps)
    up_to_date = [r for r, made in enumerate(steps) if made == most]
    newest = healed(w, steps, group)  # (1)
    share = gradient(w) if me in up_to_date else torch.zeros_like(w)  # (2)
    try:
        all_reduce(share)  # (3)
        well = True
    except RuntimeError:
        well = False
    if not vote(well):  # (4)
        return newest, most  # (5)
    return newest - rate * share / len(up_to_date), most + 1


def healed(w: Tensor, steps: Sequence[int], group: dist.ProcessGroup | None = None) -> Tensor:
    """The up-to-date weights, as a new tensor. Those that are up to date take turns in sending them."""
    me, most, newest = dist.get_rank(group), max(steps), w.clone()
    up_to_date = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    for n, other in enumerate(behind):
        source = up_to_date[n % len(up_to_date)]
        if me == source:
            dist.send(newest, group=group, group_dst=other)
        if me == other:
            dist.recv(newest, group=group, group_src=source)
    return newest
