"""Times of a step: their parts, their limits, and the directions in which they must change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockstep.planner import clusters, compute, models, stacks
from lockstep.planner.communication import all_to_all, collective, levels
from lockstep.planner.plans import Job, Plan
from lockstep.planner.step import Estimate, estimate

JOB = Job(models.find("llama3-70b"), clusters.find("dgx-h100 x 8"), 512)
PLAN = Plan(dp=2, tp=4, pp=8, vp=2, micro_batch=1, sequence_parallel=True)
FUSED = stacks.STACKS["fused"]


def test_the_parts_add_up() -> None:
    e = estimate(JOB, PLAN, FUSED)
    parts = (e.computing, e.recomputing, e.host, e.bubble, e.optimizer, *e.communication.values())
    assert sum(parts) == pytest.approx(e.step_time)
    assert min(parts) >= 0
    assert set(e.communication) == {"dp", "tp", "pp", "cp", "ep"}


def test_a_step_takes_no_less_than_its_flops() -> None:
    """Nothing can beat the matrix rate of the GPU, which the counted FLOP need; causal attention is half of it."""
    m = JOB.model
    products = 6 * (m.parameters - m.embedding) * JOB.tokens
    assert estimate(JOB, PLAN, FUSED).step_time > products / JOB.cluster.gpus / JOB.cluster.gpu.bf16


def test_one_gpu_sends_nothing() -> None:
    job = Job(models.find("gpt2-xl"), clusters.find("dgx-h100 x 1 gpu"), 8)
    e = estimate(job, Plan(), FUSED)
    assert set(e.communication.values()) == {0.0}
    assert e.bubble == 0


def test_the_bubble_is_that_of_the_formula() -> None:
    """(p-1)/v of a micro-batch's time on a stage, beside m of them."""
    plain = estimate(JOB, PLAN._replace(vp=1), FUSED)
    interleaved = estimate(JOB, PLAN, FUSED)
    assert interleaved.bubble == pytest.approx(plain.bubble / 2)
    stage = plain.bubble / 7
    assert plain.computing + plain.communication["tp"] > 256 * stage  # the last stage also has the output


@pytest.mark.parametrize(
    "better",
    [
        {"inside": 900e9},
        {"between": 100e9},
        {"inside_share": 0.99},
    ],
)
def test_a_faster_link_never_makes_a_step_slower(better: dict[str, float]) -> None:
    faster = replace(JOB, cluster=replace(JOB.cluster, **better))  # type: ignore[arg-type]
    assert estimate(faster, PLAN, FUSED).step_time <= estimate(JOB, PLAN, FUSED).step_time


@pytest.mark.parametrize("better", [{"bf16": 2e15}, {"memory_bandwidth": 8e12}, {"exponentials": 1e14}])
def test_a_faster_gpu_makes_a_step_faster(better: dict[str, float]) -> None:
    gpu = replace(JOB.cluster.gpu, **better)  # type: ignore[arg-type]
    faster = replace(JOB, cluster=replace(JOB.cluster, gpu=gpu))
    assert estimate(faster, PLAN, FUSED).step_time < estimate(JOB, PLAN, FUSED).step_time


def test_twice_the_batch_takes_nearly_twice_the_time() -> None:
    once, twice = estimate(JOB, PLAN, FUSED).step_time, estimate(replace(JOB, batch=1024), PLAN, FUSED).step_time
    assert 1.8 * once < twice < 2 * once


def test_recomputation_costs_time() -> None:
    times = [estimate(JOB, PLAN._replace(recompute=way), FUSED).step_time for way in ("none", "selective", "full")]
    assert times == sorted(times)
    assert 1.2 < times[2] / times[0] < 1.4  # one more forward pass of three


def test_precisions_are_in_the_order_of_their_rates() -> None:
    job = Job(models.find("llama3-70b"), clusters.find("dgx-b200 x 8"), 512)
    times = [estimate(replace(job, precision=p), PLAN, FUSED).step_time for p in ("bf16", "fp8", "mxfp8", "nvfp4")]
    assert times == sorted(times, reverse=True)


def test_the_sum_of_gradients_hides_behind_the_backward_pass() -> None:
    plan = Plan(dp=16, tp=4, sequence_parallel=True)
    hidden, shown = estimate(JOB, plan, FUSED), estimate(JOB, plan._replace(overlap=False), FUSED)
    assert 0 < hidden.communication["dp"] < shown.communication["dp"]


def test_groups_lie_on_the_levels_of_their_numbering() -> None:
    cluster = clusters.find("dgx-a100 x 8")
    assert levels(cluster, 8, 1) == (8, 1)  # tensor parallelism
    assert levels(cluster, 16, 1) == (8, 2)
    assert levels(cluster, 8, 8) == (1, 8)  # data parallelism beside it
    assert levels(cluster, 4, 4) == (2, 2)
    nvl72 = clusters.find("gb200-nvl72 x 256 gpus")
    assert (nvl72.domain, nvl72.domains) == (64, 4)
    assert levels(nvl72, 64, 1) == (64, 1)


def test_a_group_across_nodes_is_slower_than_within() -> None:
    cluster = clusters.find("dgx-a100 x 8")
    inside, across = (collective(cluster, 1e8, 8, stride, True) for stride in (1, 8))
    assert across > 4 * inside
    assert all_to_all(cluster, 1e8, 8, 8, 2) > all_to_all(cluster, 1e8, 8, 1, 2)


def test_long_all_reduces_reach_what_was_measured() -> None:
    """8 GPUs of an A100 node: 235 GB/s of bus bandwidth (nccl-tests)."""
    n = 8 * 2**30
    seconds = collective(clusters.find("dgx-a100"), n, 8, 1, True)
    assert 2 * 7 / 8 * n / seconds == pytest.approx(235e9, rel=0.02)


def test_a_wide_product_is_faster_for_each_flop_than_a_narrow_one() -> None:
    on = compute.Machine(JOB.cluster.gpu, FUSED, "bf16")
    wide, narrow = compute.matmul(on, 8192, 8192, 8192), compute.matmul(on, 8192, 256, 8192)
    assert narrow > wide / 32
    assert wide > 2 * 8192**3 / on.rate


def _published(model: str, gpus: int, batch: int, plan: Plan, stack: str) -> Estimate:
    job = Job(models.find(model), clusters.sized(clusters.CLUSTERS["dgx-a100"], gpus), batch)
    return estimate(job, plan, stacks.STACKS[stack])


def test_gpt_3_takes_what_korthikanti_published() -> None:
    """175B on 64 A100s, 18.13 s with full recomputation, 13.75 s with sequence parallelism and selective."""
    plan = Plan(tp=8, pp=8, vp=3, zero=0, recompute="full")
    full = _published("gpt3-175b", 64, 64, plan, "megatron-2022")
    assert full.step_time == pytest.approx(18.13, rel=0.06)
    both = plan._replace(recompute="selective", sequence_parallel=True)
    assert _published("gpt3-175b", 64, 64, both, "megatron-2022").step_time == pytest.approx(13.75, rel=0.06)
