"""Point to point: swaps gradients with every peer while it computes, adds them afterwards."""

import torch
import torch.distributed as dist

NCCL = "Ranks that are opposite each other both post a send first, too long to be buffered."


def overlapped_step(gradient, x, weights, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    own = gradient.detach().contiguous()
    inbox = [torch.empty_like(own) for _ in range(K)]
    posted = []
    for i in range(1, K):
        posted.append(dist.isend(own, group=group, group_dst=(r + i) % K))
        posted.append(dist.irecv(inbox[(r - i) % K], group=group, group_src=(r - i) % K))
    product = x @ weights
    for work in posted:
        work.wait()
    inbox[r] = own
    return torch.stack(inbox).sum(0), product
