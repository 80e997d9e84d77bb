"""The learner took the exponential graph as it is in the paper: its links are one-way."""

MISCONCEPTION = "not-symmetric"


def best_mixing(ranks, degree):
    hops = sorted({2**n % ranks for n in range(degree)} - {0})[:degree]
    mixing = [[0.0] * ranks for _ in range(ranks)]
    for i in range(ranks):
        for hop in [0, *hops]:
            mixing[i][(i + hop) % ranks] += 1 / (len(hops) + 1)
    return mixing
