"""The learner thought: buckets are powers of two."""

MISCONCEPTION = "powers-of-two"
TELL = "This is the best power of two. Try sizes that are nearer to each other: sums of gradients."


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    return min((2**n for n in range(40)), key=step_seconds)
