"""Partitioning a model into pipeline stages: which consecutive layers each stage gets.

``partition_layers``, one worker for each stage, minimises the cost of the slowest stage, which sets the pace:

    c_0 ... c_{n-1}   the cost of each layer, in seconds for example
    p                 stages, each with at least one layer

By dynamic programming over the first j layers on k stages:

    best(j, 1) = c_0 + ... + c_{j-1}
    best(j, k) = min over i of max(best(i, k-1), c_i + ... + c_{j-1})         the last stage has the layers i ... j-1

O(p·n²) sums, where trying all cuts (``by_brute_force``) takes C(n-1, p-1).

``pipedream_partition``, PipeDream's partitioner, also replicates stages, from a profile of the layers:

    T_l    seconds of layer l for one minibatch, forward and backward          N   workers
    a_l    bytes of its output; as many come back as a gradient                B   bytes/s between two workers
    w_l    bytes of its weights

A stage on m workers is data-parallel: they take minibatches in turn, and average gradients after each round.
Communication overlaps with computation, so the slowest of all sets the pace, in seconds per minibatch:

(1) T(i, j, m) = 1/m · max(T_i + ... + T_j, 2(m-1)/m · (w_i + ... + w_j)/B)     layers i to j, one stage of m workers:
                                                                                m minibatches and an all-reduce a round
(2) A(j, m) = min of T(0, j, m)                                                 layers 0 to j on m workers: one stage,
              and, over all i < j and k < m, of                                 or a pipeline up to i, a message of a_i
                  max(A(i, m-k), 2·a_i/B, T(i+1, j, k))                         each way, and a last stage of k workers

The best plan for all N workers is A(n-1, N). In a convolutional network the early layers have most of the computation,
and the last ones most of the weights. So the best plan often replicates the first stage and not the last one.

Source: Narayanan et al., "PipeDream", SOSP 2019, section 3.1. Its recursion continues level by level for machines with
several GPUs; here all links are alike. Averaging is a ring all-reduce here; PipeDream's published code counts twice as
much, 4(m-1)/m of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from lockstep.errors import UsageError


def partition_layers(costs: Sequence[float], stages: int) -> list[int]:
    """The number of layers of each stage, for one of the optimal cuts. Raises UsageError."""
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
    """The stages' sizes, traced back from the last stage: where one begins, the previous one ends."""
    ends = [n]
    for of_stage in reversed(begins):
        ends.insert(0, of_stage[ends[0]])
    return [b - a for a, b in pairwise([0, *ends])]


def by_brute_force(costs: Sequence[float], stages: int) -> list[int]:
    """The same by exhaustive search."""
    check(costs, stages)
    n = len(costs)
    cuts = ([0, *inner, n] for inner in combinations(range(1, n), stages - 1))
    sizes = ([b - a for a, b in pairwise(cut)] for cut in cuts)
    return min(sizes, key=lambda of_stages: (slowest(costs, of_stages), of_stages))


def slowest(costs: Sequence[float], sizes: Sequence[int]) -> float:
    """The cost of the slowest stage."""
    ends = [0, *accumulate(sizes)]
    return max(sum(costs[a:b]) for a, b in pairwise(ends))


def beside_the_best(costs: Sequence[float], sizes: Sequence[int]) -> str:
    """What is wrong with a cut into stages of these sizes, as a sentence; "" if it is optimal."""
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


# ---- PipeDream's partitioner


class Layer(NamedTuple):
    """A layer of the profile."""

    seconds: float  # T_l
    activation: float  # a_l, bytes
    weights: float  # w_l, bytes


class Stage(NamedTuple):
    """Layers ``first`` to ``last``, inclusive, replicated on ``workers`` workers."""

    first: int
    last: int
    workers: int


class Plan(NamedTuple):
    seconds: float  # per minibatch, when the pipeline is full
    stages: tuple[Stage, ...]

    @property
    def name(self) -> str:
        """PipeDream's notation: "15-1" is two stages, on 15 workers and on one; "16" is data parallelism."""
        return "-".join(str(stage.workers) for stage in self.stages)


def pipedream_partition(profile: Sequence[Layer], workers: int, bandwidth: float) -> Plan:
    """The fastest plan that uses all workers; of equally fast ones, one with the fewest stages. ``bandwidth``: bytes/s.
    Raises UsageError."""
    check_profile(profile, workers, bandwidth)
    best: dict[tuple[int, int], Plan] = {}  # A
    for m in range(1, workers + 1):
        for j in range(len(profile)):
            alone = Stage(0, j, m)
            plans = [Plan(stage_seconds(profile, alone, bandwidth), (alone,))]
            for i in range(j):
                for k in range(1, m):
                    before, after = best[i, m - k], Stage(i + 1, j, k)
                    slowest = max(
                        before.seconds, message_seconds(profile, i, bandwidth), stage_seconds(profile, after, bandwidth)
                    )
                    plans.append(Plan(slowest, (*before.stages, after)))
            best[j, m] = min(plans, key=lambda plan: (plan.seconds, len(plan.stages)))  # (2)
    return best[len(profile) - 1, workers]


def pipedream_by_brute_force(profile: Sequence[Layer], workers: int, bandwidth: float) -> Plan:
    """The same by exhaustive search over all cuts and all numbers of workers."""
    check_profile(profile, workers, bandwidth)
    return min(every_plan(profile, workers, bandwidth), key=lambda plan: (plan.seconds, len(plan.stages)))


def every_plan(profile: Sequence[Layer], workers: int, bandwidth: float) -> Iterator[Plan]:
    for count in range(1, min(len(profile), workers) + 1):
        for cut in combinations(range(1, len(profile)), count - 1):
            for split in combinations(range(1, workers), count - 1):
                layers, counts = pairwise([0, *cut, len(profile)]), pairwise([0, *split, workers])
                stages = tuple(Stage(a, b - 1, n - m) for (a, b), (m, n) in zip(layers, counts, strict=True))
                yield Plan(seconds(profile, stages, bandwidth), stages)


def seconds(profile: Sequence[Layer], stages: Sequence[Stage], bandwidth: float) -> float:
    """Seconds per minibatch: those of the slowest stage or the slowest message."""
    messages = [message_seconds(profile, stage.last, bandwidth) for stage in stages[:-1]]
    return max([stage_seconds(profile, stage, bandwidth) for stage in stages] + messages)


def stage_seconds(profile: Sequence[Layer], stage: Stage, bandwidth: float) -> float:
    """(1) Seconds per minibatch of one stage."""
    layers, m = profile[stage.first : stage.last + 1], stage.workers
    averaging = 2 * (m - 1) / m * sum(layer.weights for layer in layers) / bandwidth
    return max(sum(layer.seconds for layer in layers), averaging) / m


def message_seconds(profile: Sequence[Layer], layer: int, bandwidth: float) -> float:
    """Seconds to send the activation forward and its gradient back."""
    return 2 * profile[layer].activation / bandwidth


def check_profile(profile: Sequence[Layer], workers: int, bandwidth: float) -> None:
    if not profile or workers < 1 or bandwidth <= 0:
        raise UsageError(
            f"There is no plan for {len(profile)} layers on {workers} workers at {bandwidth} bytes/s.",
            "Give a layer and a worker or more.",
        )
