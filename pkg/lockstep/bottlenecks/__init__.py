"""Bottlenecks: training loops that wait for something, each with its cure and a counter that tells them apart.

Taught in unit 13. Read in this order:

    profiles          name_the_bottleneck (what a training loop loses, and what each cure would give back)
    five_steps        roofs (compute, memory or network, whichever takes longest)
    hung_ranks        flight recorder (from all dumps, the rank that all others wait for)
    tiny_collectives  dtype (many small all-reduces in one, for each)
    file_counters     seek (and opens, reads, bytes of a thread)
    shards            small files; shard
    prefetching       prefetch; workers
    resumable         (a loader that goes on where it was)
    lengths           padding; bucketing
    operations_seen   fused; graph break (and scalars that are read)
    tiny_messages     tiny all-reduces
    light_work        light work
    checkpoints       (written in the background)
    corruption        checksum
    streams           stream; pageable; pinned (in virtual time)
    unequal           slow link (and a straggler, in virtual time)
    failures          goodput (in virtual time)
    loops             counter (all loops, sick and cured)
    batches_ahead     (a few batches ahead of the consumer, and no shard opened twice)
    kv_cache          (keys and values of all tokens, in blocks)
"""

from lockstep.bottlenecks.batches_ahead import mend_loader
from lockstep.bottlenecks.five_steps import five_steps_on_three_roofs
from lockstep.bottlenecks.hung_ranks import post_mortem
from lockstep.bottlenecks.kv_cache import kv_cache_bytes
from lockstep.bottlenecks.profiles import name_the_bottleneck
from lockstep.bottlenecks.tiny_collectives import mend_tiny_collectives

__all__ = [
    "five_steps_on_three_roofs",
    "kv_cache_bytes",
    "mend_loader",
    "mend_tiny_collectives",
    "name_the_bottleneck",
    "post_mortem",
]
