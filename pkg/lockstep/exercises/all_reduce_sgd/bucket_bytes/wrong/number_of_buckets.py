"""The learner thought: how many buckets are best."""

MISCONCEPTION = "wrong-values"


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    total = sum(nbytes for _, nbytes in gradients)
    return min(range(1, len(gradients) + 1), key=lambda buckets: step_seconds(total / buckets))
