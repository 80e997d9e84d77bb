"""Models that are too big for a replica: each rank holds a shard, and gathers the rest in time.

Taught in unit 08. Read in this order:

    flat                 flat; shard
    layers               (a model as functions of one vector a layer)
    zero                 ZeRO
    zero_buckets         (what a bucket does in each stage)
    zero3                ZeRO-3 (DDP to ZeRO-3, on a list of layers)
    fsdp                 FSDP; fully_shard
    prefetching          prefetch
    hybrid               hybrid sharding
    mixed                mixed precision
    activation_checkpointing activation checkpointing
    gradient_clipping    clipping
    offload              offload
    hosted               (Adam's state on the host)
    sharded_checkpoints  checkpoint
    resharding           (a checkpoint for another number of ranks)
    states               (what ranks hold, recorded)
"""
