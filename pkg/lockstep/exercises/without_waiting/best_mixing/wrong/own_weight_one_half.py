"""The learner thought: half of the weight stays at home, so that nothing swaps for ever."""

MISCONCEPTION = "lazy"
TELL = "Half of all weight stays where it is: the matrix is lazy. Equal weights, with 1/(n + 1) for itself, mix faster."


from itertools import combinations

import numpy as np


def best_mixing(ranks, degree):
    best, found = -1.0, np.eye(ranks)
    for n in range(1, degree + 1):
        for steps in combinations(range(1, ranks // 2 + 1), n):
            near = {s % ranks for s in steps} | {-s % ranks for s in steps}
            if len(near) > degree:
                continue
            mixing = np.eye(ranks) / 2
            for i in range(ranks):
                for s in near:
                    mixing[i, (i + s) % ranks] = 0.5 / len(near)
            gap = 1 - np.sort(np.abs(np.linalg.eigvalsh(mixing)))[-2]
            if gap > best:
                best, found = gap, mixing
    return found.tolist()
