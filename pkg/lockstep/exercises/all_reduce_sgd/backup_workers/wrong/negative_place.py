"""The learner thought: the last one that is waited for stands at -b."""

MISCONCEPTION = "one-place-too-late"
TELL = "The sorted list is counted from its end with -1: with b backup workers the last one that is waited for stands at -b - 1. And -0 is 0, the first."


def backup_workers(seconds):
    N = len(seconds[0])
    return max(range(N), key=lambda b: (N - b) / sum(sorted(step)[-b] for step in seconds))
