"""The learner thought: torch has all-reduces that autograd knows."""

import torch
import torch.distributed as dist
from torch.distributed.nn.functional import all_reduce

MISCONCEPTION = "sums-backward"
TELL = (
    "The loss is on every rank already, and so is its gradient: added up on all ranks it is K times too "
    "large. Backward nothing is sent."
)


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    world = dist.group.WORLD if group is None else group
    place = targets - first
    here = (place >= 0) & (place < scores.shape[1])
    largest = scores.detach().amax(1)
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
    z = scores - largest[:, None]
    target = z.gather(1, place.where(here, 0)[:, None])[:, 0].where(here, 0)
    sums = all_reduce(torch.stack([target, z.exp().sum(1)]), group=world)
    return (sums[1].log() - sums[0]).mean()
