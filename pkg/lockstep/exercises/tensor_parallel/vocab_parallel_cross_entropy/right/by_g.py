"""autograd does it all, through g; two sums in one all-reduce."""

import torch
import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import reduce_from_region


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    place = targets - first
    here = (place >= 0) & (place < scores.shape[1])
    with torch.no_grad():
        largest = scores.max(1, keepdim=True).values
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
    z = scores - largest
    target = torch.where(here, z[torch.arange(len(z)), place.clamp(0, z.shape[1] - 1)], 0.0)
    target, total = reduce_from_region(torch.stack([target, z.exp().sum(1)]), group)
    return (total.log() - target).mean()
