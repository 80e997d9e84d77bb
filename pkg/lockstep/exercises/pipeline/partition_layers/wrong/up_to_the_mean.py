"""The learner thought: fill each stage until it costs the mean."""

MISCONCEPTION = "fills-to-the-mean"
TELL = "You fill each stage until it reaches the mean. What is left over is the last stage's, however much that is."


def partition_layers(costs, stages):
    sizes, at, mean = [], 0, sum(costs) / stages
    for s in range(stages - 1):
        begin, filled = at, 0
        while at < len(costs) - (stages - s - 1) and (at == begin or filled + costs[at] <= mean):
            filled += costs[at]
            at += 1
        sizes.append(at - begin)
    return sizes + [len(costs) - at]
