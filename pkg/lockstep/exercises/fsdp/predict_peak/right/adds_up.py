"""Adds up what comes and goes."""


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
            held -= w
    return 4 * peak
