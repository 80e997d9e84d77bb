"""The learner thought: a batch is as long as its longest sequence."""

MISCONCEPTION = "padded"
TELL = "You give each sequence the length of the longest one. Each takes only its own blocks."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = (max(lengths, default=0) + block - 1) // block * block * len(lengths)
    return 2 * layers * kv_heads * (width // heads) * nbytes * tokens
