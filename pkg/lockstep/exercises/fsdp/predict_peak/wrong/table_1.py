"""The learner thought: ZeRO's Table 1 is the answer: everything divided by K."""

MISCONCEPTION = "table-1"
TELL = "These are the shares of the table, what is there between two steps. Within a step a layer is whole for a moment, and its gradient too."


def predict_peak(sizes, ranks, stage):
    n, whole = sum(-(-N // ranks) for N in sizes), sum(sizes)
    if stage > 0:
        whole = sum(ranks * -(-N // ranks) for N in sizes)
    return 4 * ((n if stage == 3 else whole) + (n if stage >= 2 else whole) + 2 * (n if stage >= 1 else whole))
