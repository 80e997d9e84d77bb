"""The learner thought: more neighbours are more neighbours, so take the nearest ones."""

MISCONCEPTION = "nearest-neighbours"
TELL = "You take the nearest ranks as neighbours. Numbers then travel a few seats a step; neighbours far away carry them further. Try other steps."


def circulant(ranks, steps):
    near = {0} | {s % ranks for s in steps} | {-s % ranks for s in steps}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]


def best_mixing(ranks, degree):
    return circulant(ranks, range(1, max(1, min(degree, ranks) // 2) + 1))
