"""The learner thought: one all-reduce pays alpha least often."""

MISCONCEPTION = "one-bucket"
TELL = "This is one bucket for all. It pays alpha least often, but nothing travels until the backward pass is over."


def bucket_bytes(gradients, ranks, alpha, beta):
    return sum(nbytes for _, nbytes in gradients)
