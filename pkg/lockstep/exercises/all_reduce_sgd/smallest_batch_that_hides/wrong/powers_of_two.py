"""The learner thought: batches are powers of two."""

MISCONCEPTION = "powers-of-two"
TELL = "This is the smallest power of two that is enough. The smallest number is wanted, whatever it is."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    batch = 1
    while batch * flops / rate < seconds:
        batch *= 2
    return batch
