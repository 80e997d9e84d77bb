"""The learner thought: mixing[i, j] is what rank i gives to rank j."""

import torch
import torch.distributed as dist

MISCONCEPTION = "transposed-weights"
TELL = "The weight of rank j's numbers on rank i is mixing[i, j]: row i is rank i's. You take mixing[j, i], which is the same only where the matrix is symmetric."


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent, received, works = x.contiguous(), {}, []
    for j in range(size):
        if j != rank and mixing[j, rank] != 0:
            works.append(dist.isend(x_sent, group=group, group_dst=j))
        if j != rank and mixing[rank, j] != 0:
            received[j] = torch.empty_like(x_sent)
            works.append(dist.irecv(received[j], group=group, group_src=j))
    for work in works:
        work.wait()
    result = mixing[rank, rank].item() * x
    for j, theirs in received.items():
        result = result + mixing[j, rank].item() * theirs
    return result
