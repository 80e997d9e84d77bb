"""The learner thought: all-reduces that are under way do not wait for one another."""

MISCONCEPTION = "all-at-once"
TELL = "This is best if all-reduces ran beside one another. Each begins when the one before it has ended."


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready + 2 * (ranks - 1) * (alpha + held / ranks * beta))
                held = 0
        return end

    sizes = [nbytes for _, nbytes in gradients]
    return min((sum(sizes[i:j]) for i in range(len(sizes)) for j in range(i + 1, len(sizes) + 1)), key=step_seconds)
