"""The learner began the second trip as the first one, with chunk rank."""

import torch
import torch.distributed as dist

MISCONCEPTION = "loses-the-sums"
TELL = "The sums are lost: each chunk is one rank's own in the end. Does the first trip store what it should add? Or does the second trip begin with chunk rank? After the first trip chunk rank + 1 is complete."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.contiguous().clone()
    chunks = total.view(-1).tensor_split(K)
    for trip in (0, 1):
        for step in range(K - 1):
            outgoing, target = chunks[(rank - step) % K], chunks[(rank - step - 1) % K]
            incoming = torch.empty_like(target)
            sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % K)
            dist.recv(incoming, group=group, group_src=(rank - 1) % K)
            sending.wait()
            if trip == 0:
                target += incoming
            else:
                target.copy_(incoming)
    return total
