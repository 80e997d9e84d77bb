"""The search leaves nothing out: what it skips could not have been among the best."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from lockstep.planner import clusters, models, stacks
from lockstep.planner.memory import by_kind
from lockstep.planner.plans import RECOMPUTE, Job
from lockstep.planner.search import divisions, in_order, search
from lockstep.planner.step import at_least, estimate


@pytest.mark.parametrize(
    ("model", "cluster"), [("llama3-70b", "dgx-h100 x 64 gpus"), ("gpt-oss-120b", "gb200-nvl72 x 64 gpus")]
)
def test_it_finds_what_trying_every_plan_finds(model: str, cluster: str) -> None:
    job = Job(models.find(model), clusters.find(cluster), 512)
    stack = stacks.find(None, job.cluster)
    fitting, number = [], 0
    for division, chunks in divisions(job, {}):
        for zero in (1, 3) if division.pp == 1 else (1,):
            for vp in chunks:
                for recompute in RECOMPUTE:
                    plan = division._replace(vp=vp, zero=zero, recompute=recompute)
                    number += 1
                    if sum(by_kind(job, plan, stack).values()) <= job.cluster.gpu.memory:
                        found = estimate(job, plan, stack)
                        assert at_least(job, plan, stack, vp) < found.step_time
                        fitting.append((found.step_time, in_order(plan), found))
                        break
    searched = search(job, stack, top=7)
    assert searched.searched == number
    assert searched.best == tuple(found for *_, found in sorted(fitting)[:7])


def test_a_hash_that_is_kept_is_that_of_the_fields_and_does_not_travel() -> None:
    model, other = models.find("llama3-8b"), models.find("llama3-8b")
    assert hash(model) == hash(other) == hash(replace(model))
    assert model == other
    assert hash(replace(model, layers=31)) != hash(model)
    assert "_hash" not in pickle.loads(pickle.dumps(model)).__dict__
