"""The learner sets i + s and i - s to a weight each; half way round they are the same entry."""

MISCONCEPTION = "rows-do-not-sum-to-1"


def best_mixing(ranks, degree):
    steps = list(range(1, degree // 2 + 1)) + ([ranks // 2] if degree % 2 else [])
    mixing = [[0.0] * ranks for _ in range(ranks)]
    for i in range(ranks):
        mixing[i][i] = 1 / (2 * len(steps) + 1)
        for s in steps:
            mixing[i][(i + s) % ranks] = mixing[i][(i - s) % ranks] = 1 / (2 * len(steps) + 1)
    return mixing
