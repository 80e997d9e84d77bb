"""The learner thought: who gets most is the straggler of all."""

MISCONCEPTION = "received-only"
TELL = "You look at what the ranks take out. What a rank puts in can be more: n is the larger of both, over all ranks."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    exchange = (K - 1) * (alpha + max(received) * row_bytes / K * beta)
    return 2 * exchange + max(received) * seconds
