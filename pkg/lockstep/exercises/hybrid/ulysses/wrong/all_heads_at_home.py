"""The learner thought: queries stay at home, keys and values are gathered."""

MISCONCEPTION = "too-many-bytes"
TELL = "You send every head to every rank. A rank needs H/K heads of queries and G/K of keys and values, and sends back what comes out."

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape
    G = k.shape[0]
    send = [torch.cat([q, k, v]) for s in range(K)]
    recv = [torch.empty(H + 2 * G, n, d, dtype=q.dtype) for n in lengths]
    dist.all_to_all(recv, send, group=group)
    x = torch.cat(recv, 1)
    y = attend(x[:H], x[H : H + G], x[H + G :])
    return y.split(lengths, 1)[dist.get_rank(group)].clone()
