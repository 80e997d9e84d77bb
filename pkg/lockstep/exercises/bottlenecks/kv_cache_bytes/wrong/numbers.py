"""The learner thought: bytes are numbers."""

MISCONCEPTION = "numbers-for-bytes"
TELL = "You count numbers. Each has nbytes bytes."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum((length + block - 1) // block * block for length in lengths)
    return 2 * layers * kv_heads * (width // heads) * tokens
