"""The learner thought: stage 1 shards the gradients, too, and stage 2 the parameters."""

MISCONCEPTION = "stages-shifted"
TELL = "Stage 1 shards the optimizer state alone, stage 2 the gradients as well, stage 3 the parameters as well: your stages are one ahead."


def predict_peak(sizes, ranks, stage):
    stage = min(3, stage + 1) if stage else 0
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
            held -= w
    return 4 * peak
