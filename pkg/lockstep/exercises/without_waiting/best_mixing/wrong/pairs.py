"""The learner joins ranks in small complete groups of degree + 1."""

MISCONCEPTION = "not-connected"


def best_mixing(ranks, degree):
    size = min(degree + 1, ranks)
    mixing = [[0.0] * ranks for _ in range(ranks)]
    for i in range(ranks):
        group = [j for j in range(ranks) if j // size == i // size]
        for j in group:
            mixing[i][j] = 1 / len(group)
    return mixing
