"""Keys and values apart; negative division rounds up."""


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    blocks = sum(-(-length // block) for length in lengths)
    key = value = width // heads * nbytes
    return layers * blocks * block * (key * kv_heads + value * kv_heads)
