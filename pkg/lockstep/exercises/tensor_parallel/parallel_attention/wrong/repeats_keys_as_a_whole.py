"""The learner thought: repeat gives each query its key."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "keys-repeated-as-a-whole"
TELL = "Your keys stand as 0, 1, 0, 1 beside the queries. Neighbours share one: 0, 0, 1, 1. That is repeat_interleave, or enable_gqa=True."


def parallel_attention(x, Q, K, V, W, heads, group=None):
    ranks, r, d = dist.get_world_size(group), dist.get_rank(group), Q.shape[1] // heads
    G = K.shape[1] // d
    if ranks <= G:
        parts = torch.arange(G).tensor_split(ranks)
        first = sum(len(p) for p in parts[:r])
        keys = (first, first + len(parts[r]))
        queries = tuple(k * (heads // G) for k in keys)
    else:
        each = heads // ranks
        queries = (r * each, (r + 1) * each)
        keys = (queries[0] // (heads // G), queries[0] // (heads // G) + 1)
    own = slice(queries[0] * d, queries[1] * d)
    kv = slice(keys[0] * d, keys[1] * d)
    x = copy_to_region(x, group)
    q, k, v = (t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (x @ Q[:, own], x @ K[:, kv], x @ V[:, kv]))
    k, v = (t.repeat(1, q.shape[1] // t.shape[1], 1, 1) for t in (k, v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return reduce_from_region(out.transpose(1, 2).flatten(2) @ W[own], group)
