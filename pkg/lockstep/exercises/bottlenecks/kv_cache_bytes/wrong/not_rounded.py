"""The learner thought: blocks hold what they hold."""

MISCONCEPTION = "blocks-not-whole"
TELL = "You count the tokens. A sequence takes whole blocks, also where its last one isn't full."


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    tokens = sum(lengths)
    return 2 * layers * kv_heads * (width // heads) * nbytes * tokens
