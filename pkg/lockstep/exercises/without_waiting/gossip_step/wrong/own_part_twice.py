"""The learner began the sum with x, and then went over all ranks."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-part-too-often"
TELL = "Your own x is in it once more than mixing[i, i] times: begin the sum with zeros, or with mixing[i, i]·x."


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
    received[rank] = x
    result = x
    for j, theirs in received.items():
        result = result + mixing[rank, j].item() * theirs
    return result
