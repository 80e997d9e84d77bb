"""The learner thought: alpha is paid once for each bucket."""

MISCONCEPTION = "alpha-once"
TELL = "This is best if a bucket paid alpha once. Its ring sends 2(K-1) messages, and each pays alpha."


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + alpha + 2 * (ranks - 1) / ranks * held * beta
                held = 0
        return end

    sizes = [nbytes for _, nbytes in gradients]
    return min((sum(sizes[i:j]) for i in range(len(sizes)) for j in range(i + 1, len(sizes) + 1)), key=step_seconds)
