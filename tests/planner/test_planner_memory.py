"""Bytes by the published formulas, and beside published peaks."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from lockstep.planner import clusters, memory, memory_cases, models, stacks
from lockstep.planner.plans import Job, Plan

BY_TABLE: dict[str, list[memory_cases.MemoryCase]] = {}
for _case in memory_cases.everything():
    BY_TABLE.setdefault(_case.table, []).append(_case)


@pytest.mark.parametrize("table", ["zero_table1", "zero_table2"])
def test_model_states_are_zeros_own(table: str) -> None:
    """The tables round to a few digits: 0.47 GB for 0.469."""
    assert len(BY_TABLE[table]) >= 20
    assert max(abs(case.error) for case in BY_TABLE[table]) < 0.025


def test_activations_are_korthikantis() -> None:
    assert len(BY_TABLE["korthikanti_formulas"]) == 12
    assert max(abs(case.error) for case in BY_TABLE["korthikanti_formulas"]) < 1e-9


def test_torchtitans_peaks() -> None:
    """The goal is 5 %, which the median reaches. The H200's rows are 40 % below: their checkpointing is not stated."""
    known = [abs(case.error) for case in BY_TABLE["torchtitan_llama31"]]
    assert len(known) == 20
    assert median(known) < 0.05


def test_parameters_add_up_to_the_published_ones() -> None:
    published = {
        "gpt3-175b": 174.6, "llama2-7b": 6.74, "llama2-70b": 68.98, "llama3-8b": 8.03, "llama3-70b": 70.55,
        "llama3-405b": 405.9, "mixtral-8x7b": 46.7, "deepseek-v3": 671, "gpt-oss-120b": 116.8, "qwen3-30b-a3b": 30.5,
        "qwen3-235b-a22b": 235,
    }  # fmt: skip
    for name, billions in published.items():
        assert models.find(name).parameters / 1e9 == pytest.approx(billions, rel=0.01), name
    active = {"mixtral-8x7b": 12.9, "deepseek-v3": 37, "gpt-oss-120b": 5.1, "qwen3-30b-a3b": 3.3}
    for name, billions in active.items():
        assert models.find(name).active_parameters / 1e9 == pytest.approx(billions, rel=0.13), name


def _memory(plan: Plan, stack: str = "fused", model: str = "llama3-8b") -> float:
    job = Job(models.find(model), clusters.find("dgx-h100 x 8"), 512)
    return sum(memory.by_kind(job, plan, stacks.STACKS[stack]).values())


def test_what_saves_memory_does() -> None:
    plan = Plan(dp=16, tp=4)
    assert _memory(plan._replace(sequence_parallel=True)) < _memory(plan)
    assert _memory(plan) > _memory(plan._replace(recompute="selective")) > _memory(plan._replace(recompute="full"))
    stages = [_memory(plan._replace(zero=zero)) for zero in (0, 1, 2)]
    assert stages == sorted(stages, reverse=True)
    assert _memory(plan._replace(micro_batch=2)) > _memory(plan)


def test_interleaved_stages_keep_more() -> None:
    """Korthikanti et al.: 1 + (p-1)/(p·v) times as much."""
    job = Job(models.find("gpt3-175b"), clusters.find("dgx-a100 x 8"), 64)
    stack = stacks.STACKS["megatron-2021"]

    def kept(vp: int) -> float:
        return memory.by_kind(job, Plan(tp=8, pp=8, vp=vp), stack)["activations"]

    assert kept(3) / kept(1) == pytest.approx(1 + 7 / 24)


def test_superchips_keep_activations_in_the_hosts_memory() -> None:
    """A step that does not fit on the GPU runs on GB200 without recomputation, as published there."""
    job = Job(models.find("llama3-70b"), clusters.find("gb200-nvl72 x 64 gpus"), 256, "fp8")
    plan = Plan(dp=64, zero=3, micro_batch=2)
    stack = stacks.STACKS["bridge-25"]
    assert sum(memory.by_kind(job, plan, stack).values()) <= job.cluster.gpu.memory
    without = replace(job, cluster=replace(job.cluster, host_memory=0.0))
    assert sum(memory.by_kind(without, plan, stack).values()) > job.cluster.gpu.memory
