"""The learner thought: half its own, half the mean of all, is a lazy average."""

MISCONCEPTION = "too-many-neighbours"


def best_mixing(ranks, degree):
    return [[(0.5 if i == j else 0.0) + 0.5 / ranks for j in range(ranks)] for i in range(ranks)]
