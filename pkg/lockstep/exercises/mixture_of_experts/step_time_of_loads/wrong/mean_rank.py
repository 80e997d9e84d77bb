"""The learner thought: on average every rank has as much."""

MISCONCEPTION = "mean-rank"
TELL = "You compute as long as the mean rank does. The second all-to-all begins when the last rank is there: the one with most rows counts."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    exchange = (K - 1) * (alpha + max(sent + received) * row_bytes / K * beta)
    return 2 * exchange + sum(received) / K * seconds
