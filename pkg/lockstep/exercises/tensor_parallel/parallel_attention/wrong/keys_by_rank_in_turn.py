"""The learner thought: with few heads of keys, ranks take them by turns."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "keys-by-turns"
TELL = "With more ranks than G, you give rank r head r % G of the keys. Its queries look at head r·G // K: neighbours share one."


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
        keys = (r % G, r % G + 1)
    own = slice(queries[0] * d, queries[1] * d)
    kv = slice(keys[0] * d, keys[1] * d)
    x = copy_to_region(x, group)
    q, k, v = (t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (x @ Q[:, own], x @ K[:, kv], x @ V[:, kv]))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return reduce_from_region(out.transpose(1, 2).flatten(2) @ W[own], group)
