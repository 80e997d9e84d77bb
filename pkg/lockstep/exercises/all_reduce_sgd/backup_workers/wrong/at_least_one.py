"""The learner thought: some backup worker is always needed."""

MISCONCEPTION = "at-least-one"
TELL = "You never answer 0. Where nobody is late, every gradient that is thrown away is lost."


def backup_workers(seconds):
    N = len(seconds[0])
    if N == 1:
        return 0
    return max(range(1, N), key=lambda b: (N - b) / sum(sorted(step)[N - b - 1] for step in seconds))
