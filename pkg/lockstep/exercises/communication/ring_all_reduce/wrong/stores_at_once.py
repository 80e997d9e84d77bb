"""The learner received into the chunk itself, in both trips."""

import torch.distributed as dist

MISCONCEPTION = "loses-the-sums"
TELL = "The sums are lost: each chunk is one rank's own in the end. Does the first trip store what it should add? Or does the second trip begin with chunk rank? After the first trip chunk rank + 1 is complete."


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.contiguous().clone()
    chunks = total.view(-1).tensor_split(K)
    for step in range(2 * (K - 1)):
        sending = dist.isend(chunks[(rank - step) % K], group=group, group_dst=(rank + 1) % K)
        dist.recv(chunks[(rank - step - 1) % K], group=group, group_src=(rank - 1) % K)
        sending.wait()
    return total
