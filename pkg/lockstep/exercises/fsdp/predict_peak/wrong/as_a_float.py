"""The learner thought: bytes are a number like any other."""

MISCONCEPTION = "not-an-integer"


def predict_peak(sizes, ranks, stage):
    shards = [-(-size // ranks) for size in sizes]
    whole = sizes if stage == 0 else [ranks * n for n in shards]
    always = sum(shards if stage == 3 else whole) + 2 * sum(whole if stage == 0 else shards)
    comes = {0: lambda n, w: [w], 1: lambda n, w: [w], 2: lambda n, w: [w, n, -w], 3: lambda n, w: [w, w, -w, n, -w]}
    backward = list(zip(reversed(shards), reversed(whole), strict=True))
    changes = [change for n, w in backward for change in comes[stage](n, w)]
    if stage == 1:
        changes += [change for n, w in backward for change in (n, -w)]
    now = peak = 0
    for change in changes:
        now += change
        peak = max(peak, now)
    return 4.0 * (always + peak)
