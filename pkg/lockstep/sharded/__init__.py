"""Models that are too big for a replica: each rank holds a shard, and gathers the rest in time."""
