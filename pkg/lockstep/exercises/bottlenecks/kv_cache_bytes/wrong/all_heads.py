"""The learner thought: each head has its own keys and values."""

MISCONCEPTION = "all-heads"
TELL = "Your key has width numbers, as if each head had a key of its own. There are kv_heads keys, of width/heads numbers each."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum((length + block - 1) // block * block for length in lengths)
    return 2 * layers * heads * (width // heads) * nbytes * tokens
