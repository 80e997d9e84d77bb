"""How DTensor shards attention: it knows that of a GPU's kernels, and not of the CPU's, which computes here.

An attention of heads (dimension 1) or of sequences of a batch (dimension 0) needs no other one's: where query, key and
value are sharded so, the results are. Source: ``_scaled_dot_product_flash_attention_base_strategies`` of torch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

aten: Any = torch.ops.aten
FORWARD = aten._scaled_dot_product_flash_attention_for_cpu.default
BACKWARD = aten._scaled_dot_product_flash_attention_for_cpu_backward.default
Placements = list[tuple[list[Any], list[Any]]]


def install() -> None:
    """Once, in a process of a virtual cluster."""
    register_sharding(FORWARD)(of_forward)
    register_sharding(BACKWARD)(of_backward)


def of_forward(
    query: Any, key: Any, value: Any, *settings: Any, attn_mask: Any = None, scale: Any = None
) -> Placements:
    """For query, key, value (batch, heads, length, width) → the output of that shape and logsumexp (batch, heads,
    length). With a mask, which may have fewer dimensions, nothing is sharded."""
    return likewise(inputs=3, outputs=2, settings=len(settings), masked=attn_mask is not None)


def of_backward(
    grad: Any, query: Any, key: Any, value: Any, out: Any, lse: Any, *settings: Any, **named: Any
) -> Placements:
    """→ the gradients of query, key and value."""
    return likewise(inputs=6, outputs=3, settings=len(settings), masked=named.get("attn_mask") is not None)


def likewise(inputs: int, outputs: int, settings: int, masked: bool) -> Placements:
    """All tensors are sharded in the same way."""
    ways = [Replicate()] if masked else [Replicate(), Shard(0), Shard(1)]
    return [([way] * outputs, [way] * inputs + [None] * settings) for way in ways]
