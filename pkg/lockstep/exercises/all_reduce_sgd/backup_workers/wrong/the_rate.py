"""The learner thought: the most gradients a second."""

MISCONCEPTION = "returns-the-rate"
TELL = "This is how many gradients a second are used at best, and not the number of backup workers with which they are."


def backup_workers(seconds):
    N = len(seconds[0])
    return max(len(seconds) * (N - b) / sum(sorted(step)[N - b - 1] for step in seconds) for b in range(N))
