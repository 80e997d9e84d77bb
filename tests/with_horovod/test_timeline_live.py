"""Timelines that Horovod writes now."""

from __future__ import annotations

from functools import partial

import pytest

from lockstep.experiments.horovod.specimens import gradients
from lockstep.with_horovod.ranks import run_horovod
from lockstep.with_horovod.timeline import Timeline, counts, cycles, fused_tensors, readiness, spans

pytestmark = pytest.mark.horovod
SIZES = {"a": 100, "b": 100, "c": 100}


def timeline(steps: int, ranks: int = 2, **settings: object) -> Timeline:
    return run_horovod(partial(gradients, [SIZES] * steps), ranks=ranks, timeline=True, settings=settings).timeline


def test_a_threshold_of_0_carries_each_tensor_alone_and_none_is_lost() -> None:
    """hvd.shutdown() dropped what the timeline's writer had not written yet: 5 of 38 timelines lacked their end."""
    found = timeline(3, HOROVOD_FUSION_THRESHOLD=0)
    assert counts(found).operations == {"ALLREDUCE": 9}
    assert counts(found).nbytes == 9 * 400
    assert all(span.ended for span in spans(found))
    assert sorted(fused_tensors(found)) == sorted([[f"allreduce.{name}"] for name in SIZES] * 3)


def test_cycles_are_marked_when_asked_and_each_rank_is_heard_once_for_each_tensor() -> None:
    found = timeline(2, ranks=3, HOROVOD_TIMELINE_MARK_CYCLES=1, HOROVOD_CYCLE_TIME=5)
    assert cycles(found)
    assert sorted((r.tensor, r.rank) for r in readiness(found)) == [
        (f"allreduce.{name}", rank) for name in SIZES for rank in range(3)
    ]
    assert counts(found).tensors == {"ALLREDUCE": 6}
