"""The learner thought: the last one that is waited for stands at -b."""

MISCONCEPTION = "one-place-too-late"
TELL = "With b = 0 you take the time of the fastest machine: a sorted list begins with the smallest, and -0 is 0. The last one that is waited for stands at N - b - 1, or at -b - 1."


def backup_workers(seconds):
    N = len(seconds[0])
    return max(range(N), key=lambda b: (N - b) / sum(sorted(step)[-b] for step in seconds))
