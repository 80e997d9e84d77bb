"""The learner thought: alphas and the last bucket cost as much as each other: n = sqrt(N·K·alpha/beta)."""

import math

MISCONCEPTION = "wrong-values"


def bucket_bytes(gradients, ranks, alpha, beta):
    total = sum(nbytes for _, nbytes in gradients)
    return max(1, int(math.sqrt(total * ranks * alpha / beta))) if beta else total
