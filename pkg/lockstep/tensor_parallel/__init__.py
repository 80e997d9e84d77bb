"""Tensor parallelism, for layers that are too big for one rank: each rank holds a part of every matrix, and all compute
on the same batch.

Taught in unit 10. Read in this order:

    linear        by columns; by rows
    f_and_g       f and g
    attention     heads
    vocabulary    vocabulary (embedding and cross-entropy)
    transformer   MLP; block; GPT
    dropout       dropout
    sequence      sequence parallelism
    overlapped    asynchronous
    async_gather  all-gather (and the product after it, shard by shard)
    conv          convolution
    functional    (the same layers as functions of whole weights)
    splits        (which layers of a chain to cut)
    bug_test      (a test that finds the bugs of ``bugs``)
    bugs          (twelve programs, ten of them wrong)
    across_nodes  inside a node (why tensor parallelism stays there)
    published     (a layer of Korthikanti et al., next to their formulas)
    recorded      (results of runs that take longer than a cell should)
"""

from lockstep.tensor_parallel.async_gather import async_gather_matmul
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
    "async_gather_matmul",
    "bias_added_once",
    "cross_entropy_of_columns",
    "parallel_attention",
    "parallel_conv2d",
    "parallel_mlp",
    "sequence_parallel",
    "synced_layernorm",
]
