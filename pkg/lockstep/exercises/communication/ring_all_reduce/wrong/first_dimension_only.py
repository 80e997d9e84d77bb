"""The learner thought: tensor_split cuts any tensor into K parts. Of a matrix it cuts the rows."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-bytes"
TELL = "That is right for vectors. tensor_split cuts along the first dimension, so a matrix of few rows gives few chunks, and long ones: cut tensor.view(-1)."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    chunks = (total if total.dim() else total.view(1)).tensor_split(K)
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
