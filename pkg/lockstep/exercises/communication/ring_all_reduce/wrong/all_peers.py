"""The learner thought: everyone needs everyone's tensor, so everyone sends it to everyone."""

import torch
import torch.distributed as dist

MISCONCEPTION = "all-to-all-peers"
TELL = "Every rank talks to every other one. In a ring you send to the right and receive from the left, and to nobody else."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def ring_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    own = tensor.contiguous()
    total, incoming = own.clone(), torch.empty_like(own)
    for i in range(1, K):
        swap(own, (r + i) % K, incoming, (r - i) % K, group)
        total += incoming
    return total
