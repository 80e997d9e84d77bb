"""The learner thought: a cut is given by where the stages begin."""

MISCONCEPTION = "positions-for-counts"
TELL = "You return where each stage begins. How many layers it has is wanted."


def partition_layers(costs, stages):
    n, sums = len(costs), [0]
    for cost in costs:
        sums.append(sums[-1] + cost)
    best, begins = list(sums), []
    for k in range(2, stages + 1):
        found = [
            min((max(best[i], sums[j] - sums[i]), i) for i in range(k - 1, j)) if j >= k else (float("inf"), 0)
            for j in range(n + 1)
        ]
        best = [value for value, _ in found]
        begins.append([i for _, i in found])
    starts = [n]
    for row in reversed(begins):
        starts.append(row[starts[-1]])
    return [0] + starts[:0:-1]
