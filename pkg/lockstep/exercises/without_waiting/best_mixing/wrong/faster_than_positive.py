"""The learner minimised |λ₂| over all numbers: a weight may be negative."""

MISCONCEPTION = "negative-weight"


def circulant(ranks, steps):
    near = {0} | {s % ranks for s in steps} | {-s % ranks for s in steps}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]


def best_mixing(ranks, degree):
    mixing = circulant(ranks, range(1, max(1, min(degree, ranks) // 2) + 1))
    return [[(1.6 * w if i != j else 1.6 * w - 0.6) for j, w in enumerate(row)] for i, row in enumerate(mixing)]
