"""The learner thought: at stage 3 parameters are sharded, so only shards count."""

MISCONCEPTION = "no-gathered-layer"
TELL = "At stage 3 a layer is whole while it computes: its gathered parameters are there, beside its whole gradient."


def predict_peak(sizes, ranks, stage):
    n = [-(-N // ranks) for N in sizes]
    whole = list(sizes) if stage == 0 else [ranks * s for s in n]
    parameters = sum(n if stage == 3 else whole)
    adam = 2 * sum(whole if stage == 0 else n)
    held = peak = parameters + adam
    layers = list(zip(whole, n))[::-1]
    for w, s in layers:
        held += w
        peak = max(peak, held)
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
