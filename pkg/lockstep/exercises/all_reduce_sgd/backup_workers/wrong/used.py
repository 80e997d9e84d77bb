"""The learner thought: how many gradients to use is what is asked."""

MISCONCEPTION = "number-of-used"
TELL = "This is how many gradients a step uses, N - b. What is wanted is b."


def backup_workers(seconds):
    N = len(seconds[0])
    return max(range(N, 0, -1), key=lambda used: used / sum(sorted(step)[used - 1] for step in seconds))
