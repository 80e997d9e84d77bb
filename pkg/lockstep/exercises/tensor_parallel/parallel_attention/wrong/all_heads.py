"""The learner thought: all heads together are one product, of which I take mine."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "too-many-flops"
TELL = "Every rank computes all heads, and takes its own at the end. Cut Q, K and V before the products."


def own(n, ranks, r):
    each, more = divmod(n, ranks)
    return slice(r * each + min(r, more), (r + 1) * each + min(r + 1, more))


def stretches(heads, G, ranks, r, d):
    """Of the queries and of the keys."""
    if ranks <= G:
        keys = own(G, ranks, r)
        queries = slice(keys.start * (heads // G), keys.stop * (heads // G))
    else:
        queries, key = own(heads, ranks, r), r * G // ranks
        keys = slice(key, key + 1)
    return slice(queries.start * d, queries.stop * d), slice(keys.start * d, keys.stop * d)


def parallel_attention(x, Q, K, V, W, heads, group=None):
    ranks, r, d = dist.get_world_size(group), dist.get_rank(group), Q.shape[1] // heads
    q_, k_ = stretches(heads, K.shape[1] // d, ranks, r, d)
    y = copy_to_region(x, group)

    q, k, v = (t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (y @ Q, y @ K, y @ V))
    inside = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return reduce_from_region(inside.transpose(1, 2).flatten(2)[..., q_] @ W[q_], group)
