"""Inference of a decoder: prefill reads the prompt in one pass, decode writes a token a pass.

    N   parameters      s   tokens in the context     B   sequences at once
    L   layers          h   query heads               k   key-value heads, h in multi-head attention
    e   size of a head  b   bytes of a number

    KV cache           2·L·k·e·b bytes for each token: a key and a value in each layer
    prefill            2·N·s·B FLOP + attention 2·L·h·e·s²·B (causal: half of 4), weights are read once for s·B tokens
    decode, one token  2·N·B FLOP + attention 4·L·h·e·s·B; reads N·b bytes of weights, *whatever B is*, and the caches
                       of all B sequences

So with B = 1 decode does 2·N FLOP for N·b bytes: 1 FLOP a byte in 16 bits, where a GPU could do 150 and more. Each
further sequence is nearly free until its cache's bytes, or the FLOPs, take as long as the weights.

Source: Pope et al., "Efficiently scaling transformer inference", arXiv:2211.05102, section 2; grouped-query attention:
Ainslie et al., arXiv:2305.13245. N counts all weights that a token is multiplied by; embeddings looked up are read by
row, and left out nowhere here: for a model of billions they are a few per cent.
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.cost.roofs import Work


@dataclass(frozen=True)
class Decoder:
    """The shape of a decoder, as above."""

    name: str
    parameters: float
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    nbytes: int = 2  # of a number

    @property
    def weights(self) -> float:
        """Bytes."""
        return self.parameters * self.nbytes


# Shapes: arXiv:2407.21783, table 3; parameters as counted in the published weights.
LLAMA_3_8B = Decoder("Llama 3 8B", 8.03e9, 32, 32, 8, 128)
LLAMA_3_70B = Decoder("Llama 3 70B", 70.6e9, 80, 64, 8, 128)
LLAMA_65B = Decoder("LLaMA-65B", 65.2e9, 80, 64, 64, 128)  # arXiv:2302.13971, table 2: multi-head


def kv_cache_bytes(layers: int, kv_heads: int, head_size: int, tokens: int, batch: int = 1, nbytes: int = 2) -> int:
    """Bytes that keys and values of ``batch`` sequences of ``tokens`` tokens take."""
    return 2 * layers * kv_heads * head_size * tokens * batch * nbytes


def cache_bytes(model: Decoder, tokens: int, batch: int = 1) -> int:
    return kv_cache_bytes(model.layers, model.kv_heads, model.head_size, tokens, batch, model.nbytes)


def prefill(model: Decoder, tokens: int, batch: int = 1) -> Work:
    """The prompt's pass: ``batch`` prompts of ``tokens`` tokens."""
    attention = 2 * model.layers * model.heads * model.head_size * tokens**2 * batch
    flops = 2 * model.parameters * tokens * batch + attention
    return Work("prefill", flops, model.weights + cache_bytes(model, tokens, batch))


def decode(model: Decoder, tokens: int, batch: int = 1) -> Work:
    """One token for each of ``batch`` sequences with ``tokens`` tokens in their context."""
    attention = 4 * model.layers * model.heads * model.head_size * tokens * batch
    flops = 2 * model.parameters * batch + attention
    return Work("decode", flops, model.weights + cache_bytes(model, tokens, batch))


def most_sequences(model: Decoder, memory: float, tokens: int) -> int:
    """How many sequences of ``tokens`` tokens fit beside the weights into ``memory`` bytes; 0 if none does."""
    return max(0, int((memory - model.weights) // cache_bytes(model, tokens)))
