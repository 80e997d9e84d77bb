"""Mixtures of experts: each token is computed by a few experts out of many, which stand on different ranks.

Taught in unit 11. Read in this order:

    expert             expert
    gate               gate; top-k; softmax
    capacity           capacity; dropped
    balance            load-balancing loss; z-loss
    dense              (on one rank: the serial oracle)
    dispatch           dispatch; combine
    expert_parallel    expert parallelism
    shared_expert      shared expert
    mixture_of_depths  mixture of depths
    collapse           collapse
    gpt                GPT (with experts in every other block)
    functional         (short functions on plain tensors)
    training           (on the source of Python's library)
    flops              (where a transformer's FLOPs go)
    models_table       active (and total parameters of mixtures that were trained)
"""
