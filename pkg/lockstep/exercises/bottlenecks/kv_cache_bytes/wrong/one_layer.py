"""The learner thought: the layers share the cache."""

MISCONCEPTION = "one-layer"
TELL = "You count one layer. Each layer has its own keys and values."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum((length + block - 1) // block * block for length in lengths)
    return 2 * kv_heads * (width // heads) * nbytes * tokens
