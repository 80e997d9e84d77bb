"""The learner saves the second buffer: what arrives is written where the outgoing tensor still lies."""

import torch.distributed as dist

MISCONCEPTION = "still-being-sent"
TELL = "You receive into the tensor while it is still being sent, so that what has just arrived may be sent on. Receive into a tensor of its own: torch.empty_like(tensor)."


def mend_ring_of_sends(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        return tensor
    sending = dist.isend(tensor, group=group, group_dst=(rank + 1) % K)
    dist.recv(tensor, group=group, group_src=(rank - 1) % K)
    sending.wait()
    return tensor
