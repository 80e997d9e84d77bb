"""The learner thought: buckets of the usual size."""

MISCONCEPTION = "constant"


def bucket_bytes(gradients, ranks, alpha, beta):
    return max(1, sum(nbytes for _, nbytes in gradients) // len(gradients))
