"""The learner thought: all N machines compute a gradient in a step, so N are used."""

MISCONCEPTION = "shortest-steps"
TELL = (
    "With this number the steps are shortest. But a step uses N - b gradients, not all N: divide these by its seconds."
)


def backup_workers(seconds):
    N = len(seconds[0])
    return max(range(N), key=lambda b: len(seconds) * N / sum(sorted(step)[N - b - 1] for step in seconds))
