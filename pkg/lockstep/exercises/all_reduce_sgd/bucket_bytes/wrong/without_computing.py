"""The learner thought: only the transfers cost time."""

MISCONCEPTION = "one-bucket"
TELL = "This is one bucket for all. It pays alpha least often, but nothing travels until the backward pass is over."


def bucket_bytes(gradients, ranks, alpha, beta):
    def seconds(size):
        held, total = 0, 0.0
        for n, (_, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                total += 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return total

    sizes = [nbytes for _, nbytes in gradients]
    return min(sum(sizes), max(sizes), key=seconds)
