"""Partitions: dynamic programming finds what trying everything finds."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from lockstep import run
from lockstep.errors import UsageError
from lockstep.experiments.pipeline.layer_profile import profile
from lockstep.pipeline import stage_partition
from lockstep.pipeline.stage_partition import Layer, Stage, partition_layers, slowest


def test_the_slowest_stage_is_as_fast_as_can_be() -> None:
    drawn = random.Random(0)
    for _ in range(200):
        costs = [drawn.randint(0, 9) for _ in range(drawn.randint(1, 9))]
        stages = drawn.randint(1, len(costs))
        sizes = partition_layers(costs, stages)
        assert len(sizes) == stages
        assert min(sizes) >= 1
        assert sum(sizes) == len(costs)
        assert slowest(costs, sizes) == slowest(costs, stage_partition.by_brute_force(costs, stages)), (costs, sizes)


def test_equal_numbers_of_layers_are_not_equal_work() -> None:
    costs = [1, 1, 1, 1, 4, 4]
    assert slowest(costs, [3, 3]) == 9
    assert slowest(costs, partition_layers(costs, 2)) == 8
    assert partition_layers(costs, 3) == [4, 1, 1]


def test_filling_stages_up_to_the_mean_is_not_best() -> None:
    """The greedy way begins a new stage when the mean, 10, would be exceeded. It leaves 19 for the last one."""
    costs = [6, 5, 6, 5, 8]
    assert slowest(costs, [1, 1, 3]) == 19
    assert slowest(costs, partition_layers(costs, 3)) == 11


@pytest.mark.parametrize(("costs", "stages"), [([1, 2], 3), ([], 1), ([1], 0), ([1, -1], 1)])
def test_what_cannot_be_cut_is_told(costs: list[float], stages: int) -> None:
    with pytest.raises(UsageError):
        partition_layers(costs, stages)


def test_pipedreams_plan_is_the_best_of_all() -> None:
    drawn = random.Random(1)
    shapes = set()
    for _ in range(60):
        count = drawn.randint(1, 6)
        layers = [Layer(drawn.randint(1, 9), drawn.randint(1, 20), drawn.randint(0, 60)) for _ in range(count)]
        workers, bandwidth = drawn.randint(1, 6), drawn.choice([2.0, 5.0, 20.0])
        plan = stage_partition.pipedream_partition(layers, workers, bandwidth)
        assert plan.seconds == pytest.approx(
            stage_partition.pipedream_by_brute_force(layers, workers, bandwidth).seconds
        )
        assert plan.seconds == pytest.approx(stage_partition.seconds(layers, plan.stages, bandwidth))
        assert sum(stage.workers for stage in plan.stages) == workers
        shapes.add((len(plan.stages), max(stage.workers for stage in plan.stages) > 1))
    assert {(1, True), (2, True), (3, True)} <= shapes  # data parallelism, and pipelines with replicated stages


def test_a_network_like_vgg_replicates_its_convolutions() -> None:
    """Early layers compute and weigh nothing, late ones the other way round: PipeDream's "15-1" for VGG-16."""
    convolutions, dense = [Layer(10, 40, 1)] * 5, [Layer(1, 1, 4000)]
    plan = stage_partition.pipedream_partition([*convolutions, *dense], 16, 100.0)
    assert plan.name == "15-1"
    assert plan.stages == (Stage(0, 4, 15), Stage(5, 5, 1))


def test_small_weights_make_data_parallelism_best() -> None:
    """PipeDream's ResNet-50: all workers replicate the whole model."""
    assert stage_partition.pipedream_partition([Layer(10, 400, 1)] * 6, 8, 100.0).name == "8"


def test_no_workers_is_told() -> None:
    with pytest.raises(UsageError, match="0 workers"):
        stage_partition.pipedream_partition([Layer(1, 1, 1)], 0, 1.0)


def measured() -> list[Layer]:
    layers = [nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)]
    return profile(layers, torch.ones(4096, 256))


def test_a_profile_of_the_virtual_cluster() -> None:
    first, relu, second = run(measured, ranks=1, on="dgx-a100").values[0]
    assert (first.activation, first.weights) == (4 * 4096 * 512, 4 * (256 * 512 + 512))
    assert (relu.weights, second.activation) == (0, 4 * 4096 * 256)
    assert first.seconds > relu.seconds > 0
