"""Layers that are too big for one rank: each rank holds a part of every matrix, and all compute on the same batch.

Taught in unit 10. Read in this order:

    linear        by columns; by rows
    f_and_g       f and g
    mlp           MLP
    attention     heads
    block         block
    vocabulary    vocabulary
    gpt           GPT
    dropout       dropout
    sequence      sequence parallelism
    overlapped    asynchronous
    conv          convolution
    functional    (the same as functions of whole weights)
    splits        (which layers of a chain to cut)
    bug_test      (a test that finds the bugs of ``bugs``)
    bugs          (twelve programs, ten of them wrong)
    across_nodes  inside a node (why it stays there)
    published     (a layer of Korthikanti et al., beside their formulas)
    recorded      (what takes longer than a cell should)
"""

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
