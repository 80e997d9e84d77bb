"""The learner thought: a ring with equal weights is the standard graph."""

MISCONCEPTION = "ring-whatever-the-degree"
TELL = "That is a ring, whatever degree says. More neighbours are allowed: use them."


def best_mixing(ranks, degree):
    mixing = [[0.0] * ranks for _ in range(ranks)]
    for i in range(ranks):
        near = {i, (i + 1) % ranks, (i - 1) % ranks}
        for j in near:
            mixing[i][j] = 1 / len(near)
    return mixing
