"""The learner thought: all layers are cut together."""

MISCONCEPTION = "pads-the-total"
TELL = "Each layer is cut by itself, and padded by itself: ceil(N/K) of each layer, not of their sum."


def predict_peak(sizes, ranks, stage):
    total, padded = sum(sizes), ranks * -(-sum(sizes) // ranks)
    n = padded // ranks
    largest = max(ranks * -(-N // ranks) for N in sizes)
    if stage == 0:
        return 16 * total
    if stage == 1:
        return 4 * (2 * n + 2 * padded + -(-sizes[-1] // ranks))
    return 4 * (3 * n + (padded if stage == 2 else largest + n) + (largest if stage == 2 else largest))
