"""The learner thought: a bucket is large enough when its bytes cost as much as its alphas."""

MISCONCEPTION = "wrong-values"


def bucket_bytes(gradients, ranks, alpha, beta):
    return max(1, round(ranks * alpha / beta)) if beta else sum(nbytes for _, nbytes in gradients)
