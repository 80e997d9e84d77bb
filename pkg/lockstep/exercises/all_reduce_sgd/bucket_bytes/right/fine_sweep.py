"""Sizes that are one percent apart; the last is more than all there is."""


def bucket_bytes(gradients, ranks, alpha, beta):
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * (alpha + held / ranks * beta)
                held = 0
        return end

    sizes, total = [1], sum(nbytes for _, nbytes in gradients)
    while sizes[-1] < total:
        sizes.append(int(1.01 * sizes[-1]) + 1)
    return min(sizes, key=step_seconds)
