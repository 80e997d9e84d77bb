"""The learner thought: stages are balanced if the sum of their squares is least."""

MISCONCEPTION = "least-squares"
TELL = "You make the sum of squares the least. That is near, but only the most expensive stage counts."


def partition_layers(costs, stages):
    n, sums = len(costs), [0]
    for cost in costs:
        sums.append(sums[-1] + cost)
    best, begins = [total**2 for total in sums], []
    for k in range(2, stages + 1):
        found = [
            min((best[i] + (sums[j] - sums[i]) ** 2, i) for i in range(k - 1, j)) if j >= k else (float("inf"), 0)
            for j in range(n + 1)
        ]
        best = [value for value, _ in found]
        begins.append([i for _, i in found])
    ends = [n]
    for row in reversed(begins):
        ends.insert(0, row[ends[0]])
    return [b - a for a, b in zip([0] + ends[:-1], ends)]
