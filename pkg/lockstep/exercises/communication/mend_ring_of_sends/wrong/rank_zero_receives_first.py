"""The learner thought: one rank that receives first breaks the circle. It does, and then they are freed in a row."""

import torch
import torch.distributed as dist

MISCONCEPTION = "serialised"
TELL = "One message waits for the other, all round the ring. Let all send and receive at once (isend and irecv), or let even ranks send first and odd ranks receive first."


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    if K == 1:
        return tensor.clone()
    received = torch.empty_like(tensor)
    if r == 0:
        dist.recv(received, group=group, group_src=K - 1)
        dist.send(tensor, group=group, group_dst=1)
    else:
        dist.send(tensor, group=group, group_dst=(r + 1) % K)
        dist.recv(received, group=group, group_src=r - 1)
    return received
