"""Which plans are refused, with which rule; and that what is fixed stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockstep.errors import UsageError
from lockstep.planner import clusters, models, plans, stacks
from lockstep.planner.plans import Job, Plan
from lockstep.planner.search import search

LLAMA = Job(models.find("llama3-70b"), clusters.find("dgx-h100 x 8"), 512)
MIXTRAL = Job(models.find("mixtral-8x7b"), clusters.find("dgx-h100 x 8"), 512)
SEVEN = replace(LLAMA, batch=7, cluster=clusters.find("dgx-h100 x 128"))
FUSED = stacks.STACKS["fused"]


@pytest.mark.parametrize(
    ("job", "fixed", "rule"),
    [
        (LLAMA, {"tp": 3}, "tp=3 does not divide 64 heads."),
        (LLAMA, {"tp": 16}, "tp=16 does not divide 8 KV heads."),  # torchtitan's issue 2574
        (LLAMA, {"pp": 7}, "pp=7 does not divide 80 layers."),
        (LLAMA, {"pp": 128}, "pp=128 is more than 80 layers."),
        (LLAMA, {"pp": 4, "vp": 3}, "pp·vp=12 does not divide 80 layers."),
        (LLAMA, {"pp": 1, "vp": 2}, "vp=2 needs a pipeline, and pp is 1."),
        (LLAMA, {"dp": 3}, "dp=3 does not divide 64 GPUs."),
        (LLAMA, {"tp": 8, "pp": 4, "dp": 4}, "dp·tp·pp is 128, which does not divide 64 GPUs."),
        (LLAMA, {"tp": 8, "pp": 2, "cp": 1, "dp": 2}, "dp·tp·pp·cp is 32, and there are 64 GPUs."),
        (LLAMA, {"micro_batch": 7}, "micro_batch=7 does not divide a batch of 512 sequences."),
        (replace(LLAMA, batch=24), {"dp": 64}, "dp=64 does not divide a batch of 24 sequences."),
        (LLAMA, {"ep": 2}, "ep=2 needs experts, and this model has none."),
        (LLAMA, {"cp": 3}, "cp=3 does not cut 8,192 positions into 2·cp equal pieces."),
        (LLAMA, {"tp": 1, "sequence_parallel": True}, "sequence_parallel needs tp above 1."),
        (MIXTRAL, {"ep": 3}, "ep=3 does not divide 8 experts."),
        (SEVEN, {}, "No plan divides 7 sequences and 80 layers among 1,024 GPUs."),
    ],
)  # fmt: skip
def test_the_rule_that_is_broken_is_named(job: Job, fixed: dict[str, int | str | bool], rule: str) -> None:
    with pytest.raises(UsageError) as told:
        search(job, FUSED, fixed)
    assert str(told.value).splitlines()[0] == rule


def test_interleaving_needs_whole_rounds() -> None:
    """A search that only tried what divides the layers would let it pass."""
    job = replace(LLAMA, batch=24)
    plan = Plan(dp=2, tp=8, pp=4, vp=2, micro_batch=2)
    assert plans.illegal(job, plan) == "Interleaving needs micro-batches in multiples of pp=4, and there are 6."


def test_llama_3_counts_embedding_and_output_as_layers() -> None:
    """126 layers on 16 stages are what Meta ran: the first and the last stage have a layer less."""
    job = Job(models.find("llama3-405b"), clusters.find("dgx-h100 x 1024"), 2048)
    assert not plans.illegal(job, Plan(dp=64, tp=8, pp=16, vp=8, sequence_parallel=True))


@pytest.mark.parametrize("fixed", [{}, {"tp": 4, "recompute": "full"}, {"pp": 8, "vp": 2, "micro_batch": 2}])
def test_all_that_is_found_is_legal_and_as_it_was_fixed(fixed: dict[str, int | str | bool]) -> None:
    found = search(LLAMA, FUSED, fixed, top=1000)
    assert found.searched >= len(found.best) > 1
    for estimate in found.best:
        assert not plans.illegal(LLAMA, estimate.plan)
        assert all(getattr(estimate.plan, axis) == value for axis, value in fixed.items())
    times = [estimate.step_time for estimate in found.best]
    assert times == sorted(times)


def test_recomputation_is_taken_where_memory_needs_it() -> None:
    """It costs time and saves memory, so no plan has more of it than it must."""
    small = replace(LLAMA, cluster=clusters.find("dgx-h100 x 4"))
    (best, *_) = search(small, FUSED, {"tp": 8, "pp": 4, "micro_batch": 2, "vp": 1}).best
    assert best.plan.recompute != "none"
    (roomy, *_) = search(LLAMA, FUSED, {"tp": 8, "pp": 8, "micro_batch": 1, "vp": 1}).best
    assert roomy.plan.recompute == "none"
