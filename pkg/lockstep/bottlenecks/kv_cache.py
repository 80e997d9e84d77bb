"""The bytes of a KV cache: the keys and values of all tokens of all sequences, in all layers.

A layer keeps 2·kv_heads·(width/heads) numbers a token: with grouped-query attention (Ainslie et al., 2023) several
heads share one pair of key and value. Paged (Kwon et al., 2023, vLLM), a sequence's
cache is made of whole blocks of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.cost import inference


def kv_cache_bytes(
    layers: int, heads: int, kv_heads: int, width: int, lengths: Sequence[int], nbytes: int, block: int
) -> int:
    """Bytes of the cache of sequences of these ``lengths``, in tokens. ``nbytes``: of a number; ``block``: tokens of a
    block, 1 for no blocks."""
    tokens = sum(block * -(-length // block) for length in lengths)
    return inference.kv_cache_bytes(layers, kv_heads, width // heads, tokens, nbytes=nbytes)
