"""The learner thought: all steps are alike: one tells."""

MISCONCEPTION = "first-step-only"
TELL = "You look at one step. They differ: add up the seconds of all."


def backup_workers(seconds):
    N = len(seconds[0])
    times = sorted(seconds[0])
    return max(range(N), key=lambda b: (N - b) / times[N - b - 1])
