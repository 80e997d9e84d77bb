"""The learner thought: the cache has one entry a token."""

MISCONCEPTION = "keys-only"
TELL = "You count one vector a token. There is a key and a value."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum((length + block - 1) // block * block for length in lengths)
    return layers * kv_heads * (width // heads) * nbytes * tokens
