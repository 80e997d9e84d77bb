"""Data parallelism: every rank has a copy of the model and its own share of the data; an all-reduce keeps the copies
alike.

Taught in unit 05. Read in this order:

    sgd             all-reduce SGD
    means           (means of ranks with unequal shares)
    sampler         DistributedSampler; epoch
    ddp             DDP; buckets; DistributedDataParallel
    batch_norm      batch normalisation
    replicas        replicas
    stragglers      straggler; backup workers
    fault_tolerant  (a step that survives, as torchft makes it: unit 07)
"""

from lockstep.data_parallel.ddp import BucketedDDP, bucketed_ddp

__all__ = ["BucketedDDP", "bucketed_ddp"]
