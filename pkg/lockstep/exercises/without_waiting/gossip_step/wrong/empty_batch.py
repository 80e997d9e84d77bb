"""The learner thought: every rank has some neighbour, so there is a batch to send."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:RankRaised"
RAISES = "^IndexError: list index out of range"
TELL = "If batch_isend_irecv raises this: it wants one operation or more, and a rank without neighbours has none."


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x_sent, received, todo = x.contiguous(), {}, []
    for j in range(size):
        if j != rank and mixing[j, rank] != 0:
            todo.append(dist.P2POp(dist.isend, x_sent, group=group, group_peer=j))
        if j != rank and mixing[rank, j] != 0:
            received[j] = torch.empty_like(x_sent)
            todo.append(dist.P2POp(dist.irecv, received[j], group=group, group_peer=j))
    for work in dist.batch_isend_irecv(todo):
        work.wait()
    received[rank] = x
    return sum(mixing[rank, j].item() * theirs for j, theirs in received.items())
