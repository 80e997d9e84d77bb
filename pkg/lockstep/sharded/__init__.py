"""Models that are too big for a replica: each rank holds a shard of what training needs, and gathers the rest in time."""
