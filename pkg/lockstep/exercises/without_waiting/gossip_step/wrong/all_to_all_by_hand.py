"""The learner thought: everybody sends to everybody, and weights of 0 do the rest."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sends-along-zero-weights"
TELL = "You send x to every rank. Where mixing[j, i] is 0 nobody needs it: skip these."


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent = x.contiguous()
    others = [j for j in range(size) if j != rank]
    received = {j: torch.empty_like(x_sent) for j in others}
    works = [dist.isend(x_sent, group=group, group_dst=j) for j in others]
    works += [dist.irecv(received[j], group=group, group_src=j) for j in others]
    for work in works:
        work.wait()
    return mixing[rank, rank].item() * x + sum(mixing[rank, j].item() * received[j] for j in others)
