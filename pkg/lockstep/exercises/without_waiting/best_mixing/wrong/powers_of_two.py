"""The learner thought: steps of 1, 2, 4 ... reach everybody soonest."""

MISCONCEPTION = "powers-of-two-are-not-the-best"
TELL = "Steps of 1, 2, 4 ... are good, and not the best: with few ranks you can try all choices of steps."


def circulant(ranks, steps):
    near = {0} | {s % ranks for s in steps} | {-s % ranks for s in steps}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]


def best_mixing(ranks, degree):
    if degree >= ranks - 1:
        return circulant(ranks, range(ranks))
    return circulant(ranks, [2**n for n in range(degree // 2)])
