"""Dynamic programming from the last layer, with a memory of what was computed."""

from functools import cache
from itertools import accumulate


def partition_layers(costs, stages):
    sums = [0, *accumulate(costs)]
    n = len(costs)

    @cache
    def best(begin, left):
        if left == 1:
            return sums[n] - sums[begin], n
        found = (10**18, n)
        for end in range(begin + 1, n - left + 2):
            first = sums[end] - sums[begin]
            if first >= found[0]:
                break
            found = min(found, (max(first, best(end, left - 1)[0]), end))
        return found

    sizes, begin = [], 0
    for left in range(stages, 0, -1):
        end = best(begin, left)[1]
        sizes.append(end - begin)
        begin = end
    return sizes
