"""The learner thought: isend has taken a copy, so x can be scaled at once."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-what-it-sends"


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent, received, works = x.contiguous().clone(), {}, []
    for j in range(size):
        if j != rank and mixing[j, rank] != 0:
            works.append(dist.isend(x_sent, group=group, group_dst=j))
        if j != rank and mixing[rank, j] != 0:
            received[j] = torch.empty_like(x_sent)
            works.append(dist.irecv(received[j], group=group, group_src=j))
    result = x_sent.mul_(mixing[rank, rank].item())
    for work in works:
        work.wait()
    for j, theirs in received.items():
        result = result + mixing[rank, j].item() * theirs
    return result
