"""The learner thought: to reduce means to keep the largest."""

import torch
import torch.distributed as dist

MISCONCEPTION = "takes-maximum"
TELL = "This is the largest of each element; the exercise asks for the sum."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    chunks = total.view(-1).tensor_split(K)
    for step in range(2 * (K - 1)):
        target = chunks[(rank - step - 1) % K]
        incoming = torch.empty_like(target)
        sending = dist.isend(chunks[(rank - step) % K], group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        if step < K - 1:
            torch.maximum(target, incoming, out=target)
        else:
            target.copy_(incoming)
    return total
