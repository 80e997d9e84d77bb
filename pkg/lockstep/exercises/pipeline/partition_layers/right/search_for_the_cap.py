"""Search for the least cap, then cut greedily and leave each later stage a layer."""


def partition_layers(costs, stages):
    def cut(cap):
        sizes, at = [], 0
        for s in range(stages):
            begin, filled = at, 0
            while at < len(costs) - (stages - s - 1) and (at == begin or filled + costs[at] <= cap):
                filled += costs[at]
                at += 1
            if filled > cap:
                return None
            sizes.append(at - begin)
        return sizes if at == len(costs) else None

    low, high = max(costs), sum(costs)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if cut(middle) else (middle + 1, high)
    return cut(low)
