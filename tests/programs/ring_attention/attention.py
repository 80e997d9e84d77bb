"""Attention over a sequence that is cut among the ranks: keys and values go round, softmax is merged on the way."""

import math

import torch

from .distributed import Ring, rank, world_size


def block(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(mask, float("-inf"))
    top = scores.amax(-1, keepdim=True).clamp(min=-1e30)
    weights = torch.exp(scores - top)
    return weights @ v, weights.sum(-1, keepdim=True), top


def positions(part, length):
    return torch.arange(part * length, (part + 1) * length)


def ring_attention(q, k, v, causal=False):
    """q, k, v: (heads, positions of this rank, width)."""
    ring, length = Ring(), q.shape[-2]
    here = positions(rank(), length)[:, None]
    out, total, top = torch.zeros_like(v), torch.zeros(*q.shape[:-1], 1), torch.full((*q.shape[:-1], 1), -1e30)
    for step in range(world_size()):
        wait = ring.turn(k, v) if step + 1 < world_size() else None
        there = positions((rank() - step) % world_size(), length)
        mask = (there > here) if causal else torch.zeros(length, length, dtype=torch.bool)
        more, more_total, more_top = block(q, k, v, mask)
        highest = torch.maximum(top, more_top)
        old, new = torch.exp(top - highest), torch.exp(more_top - highest)
        out, total, top = out * old + more * new, total * old + more_total * new, highest
        if wait:
            k, v = wait()
    return out / total
