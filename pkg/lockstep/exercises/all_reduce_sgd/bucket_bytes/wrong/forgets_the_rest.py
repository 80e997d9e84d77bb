"""The learner thought: a bucket that is not full is never sent."""

MISCONCEPTION = "forgets-the-rest"
TELL = "This is best if what is left at the end were not sent. The last bucket takes it, full or not."


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for ready, nbytes in gradients:
            held += nbytes
            if held >= size:
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    sizes = [nbytes for _, nbytes in gradients]
    return min((sum(sizes[i:j]) for i in range(len(sizes)) for j in range(i + 1, len(sizes) + 1)), key=step_seconds)
