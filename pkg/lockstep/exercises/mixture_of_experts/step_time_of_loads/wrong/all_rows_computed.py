"""The learner thought: the experts compute all rows."""

MISCONCEPTION = "all-rows-computed"
TELL = "You take the time of all ranks' rows one after another. The ranks compute at the same time: it takes as long as the one that has most rows."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    exchange = (K - 1) * (alpha + max(sent + received) * row_bytes / K * beta)
    return 2 * exchange + sum(received) * seconds
