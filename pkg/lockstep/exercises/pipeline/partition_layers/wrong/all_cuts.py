"""The learner thought: a computer can try all cuts."""

MISCONCEPTION = "crashed:Stuck"


from itertools import combinations


def partition_layers(costs, stages):
    n, best = len(costs), None
    for inner in combinations(range(1, n), stages - 1):
        ends = [0, *inner, n]
        slowest = max(sum(costs[a:b]) for a, b in zip(ends, ends[1:]))
        if best is None or slowest < best[0]:
            best = slowest, [b - a for a, b in zip(ends, ends[1:])]
    return best[1]
