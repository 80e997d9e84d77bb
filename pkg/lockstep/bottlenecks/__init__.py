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
    double_buffering  double buffering
    unequal           slow link (and a straggler, in virtual time)
    failures          goodput (in virtual time)
    loops             counter (all loops, sick and cured)
    batches_ahead     (a few batches ahead of the consumer, and no shard opened twice)
    starving          starves
    kv_cache          (keys and values of all tokens, in blocks)
"""

from lockstep.bottlenecks.batches_ahead import mend_loader
from lockstep.bottlenecks.checkpoints import checkpoint_without_stopping
from lockstep.bottlenecks.double_buffering import overlap_copies
from lockstep.bottlenecks.five_steps import five_steps_on_three_roofs
from lockstep.bottlenecks.hung_ranks import post_mortem
from lockstep.bottlenecks.kv_cache import kv_cache_bytes
from lockstep.bottlenecks.lengths import bucket_by_length
from lockstep.bottlenecks.profiles import name_the_bottleneck
from lockstep.bottlenecks.resumable import resume_exactly
from lockstep.bottlenecks.shards import pack_shards
from lockstep.bottlenecks.starving import is_starved
from lockstep.bottlenecks.tiny_collectives import mend_tiny_collectives

__all__ = [
    "bucket_by_length",
    "checkpoint_without_stopping",
    "five_steps_on_three_roofs",
    "is_starved",
    "kv_cache_bytes",
    "mend_loader",
    "mend_tiny_collectives",
    "name_the_bottleneck",
    "overlap_copies",
    "pack_shards",
    "post_mortem",
    "resume_exactly",
]
