"""The learner thought: an all-to-all takes as long as the rank that sends most."""

MISCONCEPTION = "sent-only"
TELL = "You look at what the ranks put in. What a rank takes out can be more: n is the larger of both, over all ranks."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    exchange = (K - 1) * (alpha + max(sent) * row_bytes / K * beta)
    return 2 * exchange + max(received) * seconds
