"""What is seen of a worker that follows a stream: random streams are legal, and what it may hold is what it needs."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep import run
from lockstep.comm.backend_rules import STRICT
from lockstep.exercises.pipeline.observed_worker import LATE, LONG, observed, random_streams, tasks, under_way, written
from lockstep.pipeline.instructions import Update, from_pairs, orders_of
from lockstep.pipeline.validate import faults
from lockstep.pipeline.worker import pipeline_worker


@pytest.mark.parametrize("seed", range(5))
def test_random_streams_are_legal_and_ascend_in_neither_pass(seed: int) -> None:
    """A worker that took its inputs one after another had full marks: all F ascended."""
    streams = random_streams(3, 5, seed)
    assert faults([[*from_pairs(stream), Update()] for stream in streams], 5) == []
    assert all(len(orders_of(stream)) == 10 for stream in streams)
    there, back = ([i for kind, i in streams[0] if kind == which] for which in "FB")
    assert sorted(there) == sorted(back) == [*range(5)]
    assert [*range(5)] not in (there, back)


def test_messages_that_come_late_and_in_no_order_are_a_legal_stream() -> None:
    assert faults([[*from_pairs(written(stream)), Update()] for stream in LATE], 3) == []


def test_under_way_are_those_between_their_first_and_their_last_pair() -> None:
    stream = [("F", 0), ("F", 1), ("B", 1), ("B", 0), ("F", 2), ("send gradient", 1), ("B", 2)]
    assert under_way(stream) == 2  # 1 and 0, then 1 and 2
    assert [under_way(stream) for stream in tasks(3, 0)[LONG].turns[0]] == [3, 2, 1]


def test_the_reference_holds_what_is_granted_and_its_passes_are_seen() -> None:
    def work() -> tuple[list[Any], dict[str, Any]]:
        import torch.distributed as dist

        return observed(pipeline_worker, (task, dist.get_rank()))

    task = tasks(3, 0)[LONG]
    for stage, (_, facts) in enumerate(run(work, ranks=3, on="virtual", rules=STRICT).values):
        assert facts["passes"] == [[f"{kind}{i}" for kind, i in orders_of(task.turns[0][stage])]]
        assert 0 < facts["held"][0] <= task.room(stage, 0)
