"""The learner thought: fill each stage to the mean of what is left."""

MISCONCEPTION = "fills-to-the-mean"
TELL = "You fill each stage to the mean of what is left, and never go back. A cut that looks good here can make a later stage dear."


def partition_layers(costs, stages):
    sizes, at = [], 0
    for s in range(stages - 1):
        begin, filled, mean = at, 0, sum(costs[at:]) / (stages - s)
        while at < len(costs) - (stages - s - 1) and (at == begin or filled + costs[at] / 2 <= mean):
            filled += costs[at]
            at += 1
        sizes.append(at - begin)
    return sizes + [len(costs) - at]
