"""The learner thought: the sum is over what has arrived."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-part-missing"
TELL = "The sum is over all j, your own rank among them: mixing[i, i]·x is missing."


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
    result = torch.zeros_like(x)
    for j, theirs in received.items():
        result = result + mixing[rank, j].item() * theirs
    return result
