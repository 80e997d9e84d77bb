"""What learners work out by hand, by the planner's own functions: bytes by kind, gaps of published rows, intervals."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from lockstep.cost.loading import lost
from lockstep.planner import checkpoints, clusters, infeasible, memory
from lockstep.planner.invoice import GPU_SECONDS_BETWEEN, RESTART, invoice
from lockstep.planner.missing_axis import ASKED, missing_axis, published_rows
from lockstep.planner.models import Model
from lockstep.planner.plans import Job, Plan
from lockstep.planner.stacks import STACKS

GPT = Model("a GPT", layers=24, hidden=2048, heads=16, seq=1024, vocab=51200, learned_positions=1024)
SIZES = {"layers": 24, "hidden": 2048, "heads": 16, "seq": 1024, "parameters": 1_400_000_000, "batch": 64}


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_bytes_are_the_planners(zero: int, recompute: bool) -> None:
    """But for what the formulas by hand leave out: the embedding's result, which each micro-batch in flight keeps."""
    plan = {"tp": 2, "pp": 4, "dp": 4, "micro_batch": 2, "zero": zero, "recompute": recompute}
    held = infeasible.held_bytes(SIZES, plan)
    stack = replace(STACKS["megatron-2022"], gradient_bytes=4)
    states = memory.model_states(SIZES["parameters"] / 8, 0, 4, 4, zero, stack)
    assert {kind: held[kind] for kind in states} == pytest.approx(states)
    job = Job(GPT, clusters.sized(clusters.CLUSTERS["dgx-a100"], 32), SIZES["batch"])
    whole = Plan(tp=2, pp=4, dp=4, micro_batch=2, zero=zero, recompute="full" if recompute else "none")
    embedded = 4 * 2 * GPT.hidden * 2 * GPT.seq
    assert held["activations"] == pytest.approx(memory.by_kind(job, whole, stack)["activations"] - embedded)


def test_each_published_value_follows_from_the_others_or_not_at_all() -> None:
    found = 0
    for rows in published_rows().values():
        for row in rows:
            for key, value in row.items():
                follows = missing_axis({**row, key: ASKED})
                found += follows is not None
                assert value is None or follows in (None, value)
    assert found > 300


def test_a_whole_interval_loses_no_less_than_the_best_one() -> None:
    dice = Random(5)
    for _ in range(200):
        step, writing, between = dice.uniform(1, 90), dice.uniform(1, 300), dice.uniform(3e3, 3e5)
        steps, goodput = checkpoints.checkpoint_interval(step, writing, 1.0, between / 3600, 1, 60.0)
        losses = [lost(n * step, writing, between, 60.0) for n in range(1, 3 * steps + 9)]
        assert steps == 1 + losses.index(min(losses))
        assert goodput == pytest.approx(1 / (1 + min(losses)))


def test_goodput_is_the_invoices_where_steps_are_short() -> None:
    bill = invoice(1e6, 16384, 405e9, tokens=1e12)
    hours = GPU_SECONDS_BETWEEN / 3600
    steps, goodput = checkpoints.checkpoint_interval(1e-3, bill.checkpoint_seconds, 1.0, hours, 16384, RESTART)
    assert goodput == pytest.approx(bill.goodput, rel=1e-9)
    assert steps * 1e-3 == pytest.approx(bill.checkpoint_interval, rel=1e-3)
