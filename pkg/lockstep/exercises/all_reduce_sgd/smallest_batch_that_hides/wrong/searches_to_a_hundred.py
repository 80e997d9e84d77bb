"""The learner thought: nobody has more than 100 examples on a rank."""

MISCONCEPTION = "wrong-values"


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    for batch in range(1, 100):
        if batch * flops / rate >= seconds:
            return batch
    return 100
