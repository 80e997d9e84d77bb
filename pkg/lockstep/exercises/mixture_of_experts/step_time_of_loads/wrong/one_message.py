"""The learner thought: n bytes take alpha + n·beta."""

MISCONCEPTION = "one-message"
TELL = "You take alpha + n·beta for an all-to-all: that is one message of n bytes. A rank has K − 1 messages, of n/K bytes each."


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K, n = len(loads), len(loads[0]) // len(loads)
    sent = [sum(row) for row in loads]
    received = [sum(sum(row[r * n : (r + 1) * n]) for row in loads) for r in range(K)]
    exchange = alpha + max(sent + received) * row_bytes * beta
    return 2 * exchange + max(received) * seconds
