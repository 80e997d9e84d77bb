"""The learner thought: degree is the number of steps each way."""

MISCONCEPTION = "too-many-neighbours"


def circulant(ranks, steps):
    near = {0} | {s % ranks for s in steps} | {-s % ranks for s in steps}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]


def best_mixing(ranks, degree):
    return circulant(ranks, range(1, degree + 1))
