"""The learner thought: ten sizes are enough."""

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
    return min((total * n // 10 + 1 for n in range(10)), key=step_seconds)
