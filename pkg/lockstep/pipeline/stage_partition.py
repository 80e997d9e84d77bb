"""Which layers stand on which stage? Layers in a row on each, so that the slowest stage is as fast as can be.

    c_0 ... c_{n-1}   what each layer costs: seconds, say
    p                 stages, each with one layer or more

A pipeline is as fast as its slowest stage. So the best cut has the least *maximum* of the stages' sums. By dynamic
programming over the first j layers on k stages:

    best(j, 1) = c_0 + ... + c_{j-1}
    best(j, k) = min over i of max(best(i, k-1), c_i + ... + c_{j-1})         the last stage has the layers i ... j-1

O(p·n²) sums, where trying all cuts takes C(n-1, p-1). ``by_brute_force`` tries them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise

from lockstep.errors import UsageError


def partition_layers(costs: Sequence[float], stages: int) -> list[int]:
    """How many layers each stage has: of one of the best cuts. Raises UsageError."""
    check(costs, stages)
    n, sums = len(costs), [0, *accumulate(costs)]
    best = [sums[j] for j in range(n + 1)]  # with one stage
    begins = list[list[int]]()  # for each further stage: where it begins, if it ends at j
    for k in range(2, stages + 1):
        found = {j: min((max(best[i], sums[j] - sums[i]), i) for i in range(k - 1, j)) for j in range(k, n + 1)}
        best = [found[j][0] if j in found else float("inf") for j in range(n + 1)]
        begins.append([found[j][1] if j in found else 0 for j in range(n + 1)])
    return backwards(begins, n)


def backwards(begins: Sequence[Sequence[int]], n: int) -> list[int]:
    """From the last stage to the first one: where it begins, the one before ends."""
    ends = [n]
    for of_stage in reversed(begins):
        ends.insert(0, of_stage[ends[0]])
    return [b - a for a, b in pairwise([0, *ends])]


def by_brute_force(costs: Sequence[float], stages: int) -> list[int]:
    """The same, by trying all cuts."""
    check(costs, stages)
    n = len(costs)
    cuts = ([0, *inner, n] for inner in combinations(range(1, n), stages - 1))
    sizes = ([b - a for a, b in pairwise(cut)] for cut in cuts)
    return min(sizes, key=lambda of_stages: (slowest(costs, of_stages), of_stages))


def slowest(costs: Sequence[float], sizes: Sequence[int]) -> float:
    """What the slowest stage costs."""
    ends = [0, *accumulate(sizes)]
    return max(sum(costs[a:b]) for a, b in pairwise(ends))


def beside_the_best(costs: Sequence[float], sizes: Sequence[int]) -> str:
    """What is wrong with a cut of that many layers a stage, in words; empty if none is better."""
    if sum(sizes) != len(costs):
        return f"these are {sum(sizes)} layers; there are {len(costs)}."
    found, least = slowest(costs, sizes), slowest(costs, partition_layers(costs, len(sizes)))
    ends = [0, *accumulate(sizes)]
    worst = next(stage for stage, (a, b) in enumerate(pairwise(ends)) if sum(costs[a:b]) == found)
    return f"stage {worst} costs {found:g} µs; {least:g} is possible." if found > least else ""


def check(costs: Sequence[float], stages: int) -> None:
    if not 1 <= stages <= len(costs):
        raise UsageError(f"{len(costs)} layers cannot stand on {stages} stages.", "A stage has one layer or more.")
    if min(costs) < 0:
        raise UsageError("A layer costs 0 or more.", "Give its seconds, or its FLOP.")
