"""All sums of gradients that follow one another, and the smallest of the best."""


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    sums = set()
    for first in range(len(gradients)):
        total = 0
        for _, nbytes in gradients[first:]:
            total += nbytes
            sums.add(total)
    return min(sorted(sums), key=step_seconds)
