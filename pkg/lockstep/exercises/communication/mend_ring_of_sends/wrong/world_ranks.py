"""The learner thought: ranks are ranks."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(), dist.get_world_size()
    tensor = tensor.contiguous()
    if K == 1:
        return tensor.clone()
    received = torch.empty_like(tensor)
    sending = dist.isend(tensor, dst=(r + 1) % K)
    dist.recv(received, src=(r - 1) % K)
    sending.wait()
    return received
