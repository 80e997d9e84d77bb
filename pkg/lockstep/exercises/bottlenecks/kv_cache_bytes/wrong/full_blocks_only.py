"""The learner thought: blocks are whole, so divide."""

MISCONCEPTION = "full-blocks-only"
TELL = "You count the full blocks only. The tokens of a last block that isn't full are kept, too."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum(length // block * block for length in lengths)
    return 2 * layers * kv_heads * (width // heads) * nbytes * tokens
