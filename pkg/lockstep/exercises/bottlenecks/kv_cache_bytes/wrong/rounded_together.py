"""The learner thought: all tokens together fill blocks."""

MISCONCEPTION = "blocks-shared"
TELL = "You fill blocks with the tokens of all sequences together. Sequences share no block: round up each of them."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = (sum(lengths) + block - 1) // block * block
    return 2 * layers * kv_heads * (width // heads) * nbytes * tokens
