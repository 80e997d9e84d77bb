"""The learner thought: every rank has x and all weights, so nobody has to talk."""

from torch.nn import functional as F

MISCONCEPTION = "not-its-part"
TELL = "Every rank computes all of it, and nothing is shared out. Each is to compute with its own heads only."


def parallel_attention(x, Q, K, V, W, heads, group=None):
    d = Q.shape[1] // heads
    q, k, v = (t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (x @ Q, x @ K, x @ V))
    inside = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return inside.transpose(1, 2).flatten(2) @ W
