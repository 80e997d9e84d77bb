"""PipeDream's partitioner: which stages, and how many workers each has, from a profile of the layers.

    T_l    seconds of layer l for one minibatch, forward and backward          N   workers
    a_l    bytes of its output; as many come back as a gradient                B   bytes/s between two workers
    w_l    bytes of its weights

A stage on m workers is data-parallel: minibatches go to them by turns, and after each round they average gradients.
Messages travel beside computing, so the slowest of all sets the pace, in seconds a minibatch:

(1) T(i, j, m) = 1/m · max(T_i + ... + T_j, 2(m-1)/m · (w_i + ... + w_j)/B)     layers i to j, one stage of m workers:
                                                                                m minibatches and an all-reduce a round
(2) A(j, m) = min of T(0, j, m)                                                 layers 0 to j on m workers: one stage,
              and, over all i < j and k < m, of                                 or a pipeline up to i, a message of a_i
                  max(A(i, m-k), 2·a_i/B, T(i+1, j, k))                         each way, and a last stage of k workers

All N workers have work: A(n-1, N). Early layers of a convolutional network compute much and weigh little; the last ones
weigh much. So the best plan often replicates the first stage and leaves the last one alone.

Source: Narayanan et al., "PipeDream", SOSP 2019, section 3.1 (its recursion; it goes on level by level for machines
with several GPUs, here all links are alike). The averaging is a ring all-reduce here. PipeDream's published code counts
twice as much, 4(m-1)/m of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from lockstep.errors import UsageError


class Layer(NamedTuple):
    """A row of the profile."""

    seconds: float  # T_l
    activation: float  # a_l, bytes
    weights: float  # w_l, bytes


class Stage(NamedTuple):
    """Layers ``first`` to ``last``, both included, on so many workers."""

    first: int
    last: int
    workers: int


class Plan(NamedTuple):
    seconds: float  # of a minibatch, when the pipeline is full
    stages: tuple[Stage, ...]

    @property
    def name(self) -> str:
        """As in PipeDream's tables: "15-1" has two stages, on 15 workers and on one; "16" is data parallelism."""
        return "-".join(str(stage.workers) for stage in self.stages)


def pipedream_partition(profile: Sequence[Layer], workers: int, bandwidth: float) -> Plan:
    """The fastest plan for exactly so many workers. Of equally fast ones, one with the fewest stages. Raises
    UsageError."""
    check(profile, workers, bandwidth)
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


def by_brute_force(profile: Sequence[Layer], workers: int, bandwidth: float) -> Plan:
    """The same, by trying all stages with all numbers of workers."""
    check(profile, workers, bandwidth)
    return min(every_plan(profile, workers, bandwidth), key=lambda plan: (plan.seconds, len(plan.stages)))


def every_plan(profile: Sequence[Layer], workers: int, bandwidth: float) -> Iterator[Plan]:
    for count in range(1, min(len(profile), workers) + 1):
        for cut in combinations(range(1, len(profile)), count - 1):
            for split in combinations(range(1, workers), count - 1):
                layers, counts = pairwise([0, *cut, len(profile)]), pairwise([0, *split, workers])
                stages = tuple(Stage(a, b - 1, n - m) for (a, b), (m, n) in zip(layers, counts, strict=True))
                yield Plan(seconds(profile, stages, bandwidth), stages)


def seconds(profile: Sequence[Layer], stages: Sequence[Stage], bandwidth: float) -> float:
    """Of a minibatch: its slowest stage, or its slowest message."""
    messages = [message_seconds(profile, stage.last, bandwidth) for stage in stages[:-1]]
    return max([stage_seconds(profile, stage, bandwidth) for stage in stages] + messages)


def stage_seconds(profile: Sequence[Layer], stage: Stage, bandwidth: float) -> float:
    """(1)"""
    layers, m = profile[stage.first : stage.last + 1], stage.workers
    averaging = 2 * (m - 1) / m * sum(layer.weights for layer in layers) / bandwidth
    return max(sum(layer.seconds for layer in layers), averaging) / m


def message_seconds(profile: Sequence[Layer], layer: int, bandwidth: float) -> float:
    """There with the activation, back with its gradient."""
    return 2 * profile[layer].activation / bandwidth


def check(profile: Sequence[Layer], workers: int, bandwidth: float) -> None:
    if not profile or workers < 1 or bandwidth <= 0:
        raise UsageError(
            f"There is no plan for {len(profile)} layers on {workers} workers at {bandwidth} bytes/s.",
            "Give a layer and a worker or more.",
        )
