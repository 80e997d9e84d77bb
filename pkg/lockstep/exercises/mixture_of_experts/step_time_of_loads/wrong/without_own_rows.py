"""The learner thought: what stays on a rank isn't sent."""

MISCONCEPTION = "without-own-rows"
TELL = "You leave out the rows that stay on their rank. They count among what a rank puts in and takes out: (K − 1)/K takes care of them."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    parts = [[sum(row[r * n : (r + 1) * n]) for r in range(K)] for row in loads]
    sent = [sum(parts[r]) - parts[r][r] for r in range(K)]
    received = [sum(row[r] for row in parts) for r in range(K)]
    most = max(sent + [received[r] - parts[r][r] for r in range(K)])
    return 2 * (K - 1) * (alpha + most * row_bytes / K * beta) + max(received) * seconds
