"""Rounding up is minus the floor of minus x; how many an example's time goes into the ring's."""


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    one = flops / rate
    reduce_scatter = all_gather = (ranks - 1) * alpha + (ranks - 1) / ranks * nbytes * beta
    return max(1, -int(-(reduce_scatter + all_gather) // one))
