"""The learner thought: with sharded gradients no gradient is ever whole."""

MISCONCEPTION = "no-whole-gradient"
TELL = "At the stages 2 and 3 a layer computes its whole gradient first: that is what the reduce-scatter reads."


def predict_peak(sizes, ranks, stage):
    n = [-(-N // ranks) for N in sizes]
    whole = list(sizes) if stage == 0 else [ranks * s for s in n]
    parameters = sum(n if stage == 3 else whole)
    adam = 2 * sum(whole if stage == 0 else n)
    held = peak = parameters + adam
    layers = list(zip(whole, n))[::-1]
    for w, s in layers:
        held += w if stage < 2 or stage == 3 else 0
        peak = max(peak, held)
        if stage >= 2:
            held -= w if stage == 3 else 0
            held += s
            peak = max(peak, held)
            continue
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
