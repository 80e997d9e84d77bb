"""The learner thought: each rank has its own time, and the slowest one counts."""

MISCONCEPTION = "each-rank-alone"
TELL = "You add up each rank's own times and take the largest sum. But all wait three times: an all-to-all ends for all ranks at once, and the busiest one in it need not be the one that computes longest."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    return max(2 * (K - 1) * (alpha + max(s, r) * row_bytes / K * beta) + r * seconds for s, r in zip(sent, received))
