"""The learner thought: a size is the sum of the first so many gradients."""

MISCONCEPTION = "first-sums"
TELL = (
    "This is the best of the sums that begin with the last layer. Those fit the first bucket; try the sums of any "
    "gradients that follow one another."
)


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    return min((sum(nbytes for _, nbytes in gradients[:n]) for n in range(1, len(gradients) + 1)), key=step_seconds)
