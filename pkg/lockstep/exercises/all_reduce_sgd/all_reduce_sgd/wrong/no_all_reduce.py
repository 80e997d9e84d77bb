"""The learner thought: each rank trains on its own batches."""

MISCONCEPTION = "own-gradient"
TELL = (
    "Each rank follows its own gradient, so that the replicas drift apart. Take the mean over the ranks in every step."
)


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    for t, (x, y) in enumerate(batches, start=1):
        w = w - alpha(t) * gradient(w, x, y)
    return w
