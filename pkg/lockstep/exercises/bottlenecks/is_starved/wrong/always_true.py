"""The learner thought: loaders are always too slow."""

MISCONCEPTION = "misses-healthy-ones"
ALSO = ["misses-waits-behind-kernels", "misses-other-idle-times", "misses-first-batches", "misses-both-apart"]


def is_starved(fn):
    return True
