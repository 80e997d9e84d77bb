"""The learner thought: a bucket never holds more than its size."""

MISCONCEPTION = "closes-before"
TELL = "This is best if a bucket closed before the gradient that takes it over the size. Here that gradient goes in, and closes it."


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held, last = 0.0, 0, 0.0
        for ready, nbytes in [*gradients, (0.0, size + 1)]:
            if held and held + nbytes > size:
                end = max(end, last) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
            held, last = held + nbytes, ready
        return end

    sizes = [nbytes for _, nbytes in gradients]
    return min((sum(sizes[i:j]) for i in range(len(sizes)) for j in range(i + 1, len(sizes) + 1)), key=step_seconds)
