"""The learner thought: what leaves at once arrives first."""

MISCONCEPTION = "one-each"
TELL = "This is a bucket for each gradient. Each leaves at once, and each pays 2(K-1)·alpha, one after another."


def bucket_bytes(gradients, ranks, alpha, beta):
    return min(nbytes for _, nbytes in gradients)
