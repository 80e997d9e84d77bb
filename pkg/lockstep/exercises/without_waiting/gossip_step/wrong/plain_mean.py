"""The learner thought: gossip averages with the neighbours, all alike."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-neighbours"
TELL = (
    "You take the plain mean of what is here. The weights are those of mixing: mixing[i, j] for what came from rank j."
)


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
    return (x + sum(received.values())) / (1 + len(received))
