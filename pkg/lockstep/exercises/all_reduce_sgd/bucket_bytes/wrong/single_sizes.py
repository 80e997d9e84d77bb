"""The learner thought: a bucket is as large as some gradient."""

MISCONCEPTION = "single-sizes"
TELL = "This is the best of the gradients' own sizes. A bucket may hold several: try their sums as well."


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    return min((nbytes for _, nbytes in gradients), key=step_seconds)
