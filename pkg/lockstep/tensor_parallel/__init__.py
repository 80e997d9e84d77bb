"""Layers that are too big for one rank: each rank holds a part of every matrix, and all compute on the same batch.

These are the lab's answers that are layers; f and g are in ``f_and_g``."""

from lockstep.tensor_parallel.functional import (
    bias_added_once,
    parallel_attention,
    parallel_conv2d,
    parallel_mlp,
    sequence_parallel,
    synced_layernorm,
)
from lockstep.tensor_parallel.vocabulary import cross_entropy_of_columns

__all__ = [
    "bias_added_once",
    "cross_entropy_of_columns",
    "parallel_attention",
    "parallel_conv2d",
    "parallel_mlp",
    "sequence_parallel",
    "synced_layernorm",
]
