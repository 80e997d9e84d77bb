"""The learner thought: a machine has one speed: its mean."""

MISCONCEPTION = "machines-have-means"
TELL = "You compute with a mean for each machine. Whoever is late in this step is not late in the next one, and a mean hides that: sort step by step."


def backup_workers(seconds):
    N = len(seconds[0])
    means = sorted(sum(step[m] for step in seconds) / len(seconds) for m in range(N))
    return max(range(N), key=lambda b: (N - b) / means[N - b - 1])
