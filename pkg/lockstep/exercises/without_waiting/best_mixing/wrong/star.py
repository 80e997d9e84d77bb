"""The learner thought: through a hub everybody is two steps from everybody."""

MISCONCEPTION = "too-many-neighbours"


def best_mixing(ranks, degree):
    mixing = [[0.0] * ranks for _ in range(ranks)]
    for i in range(1, ranks):
        mixing[0][i] = mixing[i][0] = 1 / ranks
    for i in range(ranks):
        mixing[i][i] = 1 - sum(mixing[i])
    return mixing
