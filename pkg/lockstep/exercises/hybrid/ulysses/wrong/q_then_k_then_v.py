"""The learner thought: all heads behind each other, cut in K parts."""

MISCONCEPTION = "wrong-values"
TELL = "You put all of q before k and v, and cut that in K parts. The first part is then of queries alone. For each rank its part of q, of k and of v belong together."

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape
    a, b = H // K, len(k) // K
    each = a + 2 * b
    given = torch.cat([q, k, v]).contiguous()
    got = q.new_empty(each * sum(lengths) * d)
    sizes = [each * n * d for n in lengths]
    dist.all_to_all_single(got, given.flatten(), sizes, [each * t * d] * K, group=group)
    x = torch.cat([p.view(each, n, d) for p, n in zip(got.split(sizes), lengths)], 1)
    y = attend(x[:a], x[a : a + b], x[a + b :])
    send = [p.contiguous() for p in y.split(lengths, 1)]
    recv = [torch.empty(a, t, d, dtype=q.dtype) for _ in range(K)]
    dist.all_to_all(recv, send, group=group)
    return torch.cat(recv)
