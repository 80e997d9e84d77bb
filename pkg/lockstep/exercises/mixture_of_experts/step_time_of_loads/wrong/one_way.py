"""The learner thought: the rows go to their experts, and are computed there."""

MISCONCEPTION = "one-way"
TELL = "You count one all-to-all. What the experts have made goes back by a second one, as long as the first."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    return (K - 1) * (alpha + max(sent + received) * row_bytes / K * beta) + max(received) * seconds
