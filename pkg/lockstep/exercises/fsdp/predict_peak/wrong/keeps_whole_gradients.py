"""The learner thought: at stage 1 gradients go together, when all shards are there."""

MISCONCEPTION = "gradients-go-together"
TELL = "At stage 1 a whole gradient goes as soon as its own shard is there, not when all are."


def predict_peak(sizes, ranks, stage):
    n = [-(-N // ranks) for N in sizes]
    whole = list(sizes) if stage == 0 else [ranks * s for s in n]
    parameters = sum(n if stage == 3 else whole)
    adam = 2 * sum(whole if stage == 0 else n)
    held = peak = parameters + adam
    layers = list(zip(whole, n))[::-1]
    for w, s in layers:
        held += 2 * w if stage == 3 else w
        peak = max(peak, held)
        if stage == 3:
            held -= w
        if stage >= 2:
            held += s
            peak = max(peak, held)
            held -= w
    if stage == 1:
        for w, s in layers:
            held += s
            peak = max(peak, held)
    return 4 * peak
