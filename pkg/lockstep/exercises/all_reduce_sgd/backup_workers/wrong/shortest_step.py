"""The learner thought: the best is what makes a step shortest."""

MISCONCEPTION = "shortest-steps"
TELL = (
    "With this number the steps are shortest. But a step uses N - b gradients, not all N: divide these by its seconds."
)


def backup_workers(seconds):
    N = len(seconds[0])
    return min(range(N), key=lambda b: sum(sorted(step)[N - b - 1] for step in seconds))
