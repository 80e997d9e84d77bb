"""The learner thought: the least cap under which a greedy cut fits is all there is to find."""

MISCONCEPTION = "empty-stages"
TELL = "The limit that you find is right, but the greedy cut under it may need fewer stages than there are. Each stage has at least one layer: cut on."


def partition_layers(costs, stages):
    def cut(cap):
        sizes, filled = [0], 0
        for cost in costs:
            if sizes[-1] and filled + cost > cap:
                sizes.append(0)
                filled = 0
            sizes[-1] += 1
            filled += cost
        return sizes

    low, high = max(costs), sum(costs)
    while low < high:
        middle = (low + high) // 2
        if len(cut(middle)) <= stages:
            high = middle
        else:
            low = middle + 1
    sizes = cut(low)
    return sizes + [0] * (stages - len(sizes))
