"""The learner thought: a sequence needs one block more than are full."""

MISCONCEPTION = "a-block-too-many"
TELL = "You give each sequence one block more than are full. One that ends with a full block, or has no tokens, needs none."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum((length // block + 1) * block for length in lengths)
    return 2 * layers * kv_heads * (width // heads) * nbytes * tokens
