"""With math.ceil, layer by layer."""

import math


def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    total = 0
    for length in lengths:
        total += math.ceil(length / block) * block * kv_heads * (width // heads) * nbytes
    return sum(2 * total for _ in range(layers))
