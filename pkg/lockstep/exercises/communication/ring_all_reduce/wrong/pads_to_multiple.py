"""The learner thought: zeros at the end do no harm."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-all-bytes"


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    n = tensor.numel()
    size = -(-n // K)
    total = torch.zeros(size * K, dtype=tensor.dtype)
    total[:n] = tensor.reshape(-1)
    chunks = total.view(K, size)
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
    return total[:n].view(tensor.shape)
