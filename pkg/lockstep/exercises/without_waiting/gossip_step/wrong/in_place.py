"""The learner adds into x, which is an argument."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-arguments"
TELL = "You add into x itself. Return a new tensor: x stays as it was."


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
    x *= mixing[rank, rank].item()
    for j, theirs in received.items():
        x += mixing[rank, j].item() * theirs
    return x
