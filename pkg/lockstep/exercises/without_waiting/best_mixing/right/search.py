"""All choices of steps, each judged by numpy's eigenvalues; an array is a matrix too."""

from itertools import combinations

import numpy as np


def best_mixing(ranks, degree):
    best, found = -1.0, np.eye(ranks)
    for n in range(1, degree // 2 + 2):
        for steps in combinations(range(1, ranks // 2 + 1), n):
            near = {0} | {s for s in steps} | {ranks - s for s in steps}
            if len(near) > degree + 1:
                continue
            mixing = np.array([[(j - i) % ranks in near for j in range(ranks)] for i in range(ranks)]) / len(near)
            gap = 1 - np.sort(np.abs(np.linalg.eigvalsh(mixing)))[-2]
            if gap > best + 1e-12:
                best, found = gap, mixing
    return found
