"""The learner thought: the weights say only who sends to whom, and what arrives is added up."""

import torch
import torch.distributed as dist

MISCONCEPTION = "adds-without-weights"
TELL = "What arrives from rank j counts mixing[i, j] times, as your own counts mixing[i, i] times."


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
    for theirs in received.values():
        result = result + theirs
    return result
