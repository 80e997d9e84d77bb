"""Sharded data parallelism, for models that are too big for a replica: each rank holds a shard, and gathers the rest in
time.

Taught in unit 08. Read in this order:

    flat                     flat; shard
    layers                   (a model as functions of one vector a layer)
    zero                     ZeRO (stages 0 to 2, of any module)
    sharded_optimizer        sharded optimizer (stage 1 in an optimizer of any parameters)
    zero3                    ZeRO-3; prefetch (DDP to ZeRO-3 as plain functions, on a list of layers)
    overlapped_backward      backward prefetch (a backward pass that hides all that travels)
    fsdp                     FSDP; fully_shard (stage 3, of any module)
    hybrid                   hybrid sharding
    mixed_precision          mixed precision
    activation_checkpointing activation checkpointing
    gradient_clipping        clipping
    offload                  offload
    sharded_checkpoints      checkpoint
    model_states             model states (what ranks held in small runs, recorded)
"""
