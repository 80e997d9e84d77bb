"""The learner thought: a rank averages with its neighbours, so each has 1/degree."""

MISCONCEPTION = "swaps-for-ever"


def best_mixing(ranks, degree):
    steps = [s for n in range(1, degree // 2 + 1) for s in (n, -n)] or [1]
    near = {s % ranks for s in steps} - {0} or {0}
    return [[1 / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)] for i in range(ranks)]
