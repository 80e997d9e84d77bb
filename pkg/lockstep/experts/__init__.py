"""Mixture of experts: each token is computed by a few experts out of many, which are spread over the ranks.

Taught in unit 11. Read in this order:

    gate               gate; top-k; softmax; capacity; dropped
    serial             expert (and the layer on one rank: the serial reference)
    balance            load-balancing loss; z-loss
    bias               bias
    dispatch           dispatch; combine
    two_stages         node-limited routing; dispatch in two stages
    expert_parallel    expert parallelism
    shared_expert      shared expert
    mixture_of_depths  mixture of depths
    collapse           collapse
    gpt                GPT (with experts in every other block)
    functional         (short functions on plain tensors)
    training           (on the source of Python's library)
    flops              (where a transformer's FLOPs go)
    models_table       active (and total parameters of published mixtures)
"""
