"""The learner thought: expert e is on rank e % K."""

MISCONCEPTION = "experts-in-turn"
TELL = "You place expert e on rank e modulo K. Rank r has the E/K experts from number r·E/K on, side by side."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K = len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r::K]) for row in loads) for r in range(K)]
    exchange = (K - 1) * (alpha + max(sent + received) * row_bytes / K * beta)
    return 2 * exchange + max(received) * seconds
