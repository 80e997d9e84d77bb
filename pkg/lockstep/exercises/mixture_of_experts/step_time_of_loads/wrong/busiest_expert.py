"""The learner thought: everybody waits for the most popular expert."""

MISCONCEPTION = "busiest-expert"
TELL = "You wait for the expert with most rows. A rank computes its experts one after another: add up the rows of all experts of a rank."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    exchange = (K - 1) * (alpha + max(sent + received) * row_bytes / K * beta)
    return 2 * exchange + max(map(sum, zip(*loads))) * seconds
