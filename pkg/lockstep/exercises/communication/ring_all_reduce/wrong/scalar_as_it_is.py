"""The learner cut the tensor as it is: a scalar has no dimension."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:RankRaised"
TELL = "A tensor may have any shape, () too: cut tensor.reshape(-1), which has one dimension."
RAISES = "tensor_split expected at least a 1-dimensional tensor"


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    chunks = total.tensor_split(K)
    for step in range(2 * (K - 1)):
        outgoing, target = chunks[(rank - step) % K], chunks[(rank - step - 1) % K]
        incoming = torch.empty_like(target)
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        if step < K - 1:
            target += incoming
        else:
            target.copy_(incoming)
    return total
