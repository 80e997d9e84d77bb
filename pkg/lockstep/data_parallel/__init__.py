"""Data parallelism: every rank has a copy of the model and its own share of the data; an all-reduce keeps the copies
alike."""

from lockstep.data_parallel.ddp import BucketedDDP, bucketed_ddp

__all__ = ["BucketedDDP", "bucketed_ddp"]
