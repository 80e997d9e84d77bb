"""One example after the other, until the pass is long enough."""


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * (alpha + nbytes / ranks * beta)
    batch = 1
    while batch * flops / rate < seconds:
        batch += 1
    return batch
