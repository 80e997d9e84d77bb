"""The learner thought: the worst moment is when the largest layer meets the shards of all gradients."""

MISCONCEPTION = "all-gradient-shards"
TELL = "You count the shards of all gradients beside the largest layer. When the backward pass is there, those of the layers before it do not exist yet."


def predict_peak(sizes, ranks, stage):
    n = [-(-N // ranks) for N in sizes]
    whole = [ranks * s for s in n]
    if stage == 0:
        return 16 * sum(sizes)
    if stage == 1:
        return 4 * (2 * sum(whole) + 3 * sum(n))
    return 4 * ((sum(n) if stage == 3 else sum(whole)) + 3 * sum(n) + (2 if stage == 3 else 1) * max(whole))
