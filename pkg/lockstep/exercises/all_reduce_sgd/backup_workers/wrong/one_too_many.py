"""The learner thought: without the slowest b the step takes what stands at N - b in the sorted list."""

MISCONCEPTION = "one-place-too-late"
TELL = "The sorted list is counted from 0: with b backup workers the last one that is waited for stands at N - b - 1, not at N - b."


def backup_workers(seconds):
    N = len(seconds[0])
    return max(range(1, N + 1), key=lambda b: (N - b) / sum(sorted(step)[N - b] for step in seconds))
