"""The learner thought: f is for the queries, which are cut."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "f-for-queries-only"
TELL = "x goes through f on its way to the queries, and past it to keys and values. What comes back from these is a summand, too."


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
    fx = copy_to_region(x, group)
    q, k, v = (t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (fx @ Q[:, own], x @ K[:, kv], x @ V[:, kv]))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return reduce_from_region(out.transpose(1, 2).flatten(2) @ W[own], group)
