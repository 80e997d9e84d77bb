"""The learner thought: weights sum to 1, so my own is 1 minus those of the others."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-weight-from-the-rest"
TELL = "Your own weight is mixing[i, i], as it stands. You take what the others leave of 1, and rows need not sum to 1."


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
    result = (1 - sum(mixing[rank, j].item() for j in received)) * x
    for j, theirs in received.items():
        result = result + mixing[rank, j].item() * theirs
    return result
