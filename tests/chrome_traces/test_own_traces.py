"""What `lockstep run --trace` writes comes back whole, to the last bit of its times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from lockstep import machines, run
from lockstep.chrome_traces.findings import findings
from lockstep.chrome_traces.spans import recording
from lockstep.errors import Deadlock
from lockstep.events import Trace


def back(trace: Trace, folder: Path) -> Trace | None:
    (folder / "t.json").write_text(trace.to_chrome())
    return recording(folder / "t.json").run


def everything() -> None:
    rank, size, x = dist.get_rank(), dist.get_world_size(), torch.ones(100, 100)
    pair = dist.new_group([0, 2])
    work = dist.all_reduce(x, async_op=True)
    x.new_ones(64, 64) @ x.new_ones(64, 64)
    work.wait()
    if rank != 1:
        dist.all_reduce(x, group=pair)
    sending = dist.isend(x, (rank + 1) % size, tag=3)
    dist.recv(torch.empty_like(x), tag=3)
    sending.wait()
    dist.gather(x, [torch.empty_like(x) for _ in range(size)] if rank == 1 else None, dst=1)


@pytest.mark.parametrize("world", ["dgx-a100", "processes"])
def test_a_run_comes_back(tmp_path: Path, world: str) -> None:
    trace = run(everything, ranks=3, on=world).trace
    assert back(trace, tmp_path) == trace


def test_unequal_ranks_come_back(tmp_path: Path) -> None:
    slow = machines.find("dgx-a100").with_rank(1, speed=0.5).with_link(0, 2, bandwidth=1e9).with_jitter(compute=0.1)
    trace = run(everything, ranks=3, on=slow).trace
    assert len(trace.unequal) == 3
    assert back(trace, tmp_path) == trace


def test_a_run_that_got_stuck_and_one_that_did_nothing(tmp_path: Path) -> None:
    with pytest.raises(Deadlock) as caught:
        run(lambda: dist.recv(torch.ones(1), (dist.get_rank() + 1) % 2), ranks=2, on="dgx-a100")
    for trace in (caught.value.trace, Trace((), 3, "virtual", "dgx-a100")):
        assert trace is not None
        assert back(trace, tmp_path) == trace


def test_what_is_found_in_a_run_is_the_run_s(tmp_path: Path) -> None:
    trace = run(everything, ranks=3, on="dgx-a100").trace
    (tmp_path / "t.json").write_text(trace.to_chrome())
    found = findings(recording(tmp_path / "t.json"))
    counts = trace.counts()
    for one in found.communication:
        mine = [count for (_, kind), count in counts.items() if kind == one.kind]
        assert (one.number, one.nbytes) == (sum(c.number for c in mine), sum(c.nbytes for c in mine))
    assert {one.kind for one in found.communication} == {kind for _, kind in counts}
    for rank, use in enumerate(found.uses):
        computed = sum(e.duration for e in trace.of_rank(rank) if e.kind == "compute")
        assert use.computing == pytest.approx(computed)
    hidden = {one.kind: one.hidden for one in found.communication}
    assert hidden["all_reduce"] > 0
    assert hidden["gather"] == 0


def test_perfetto_s_part_is_as_it_was(tmp_path: Path) -> None:
    """A lane a rank, a bar from posted to end in microseconds, an arrow for a message."""
    trace = run(everything, ranks=3, on="dgx-a100").trace
    rows = json.loads(trace.to_chrome())["traceEvents"]
    bars = [row for row in rows if row["ph"] == "X"]
    assert [(b["tid"], b["cat"], b["ts"], b["dur"]) for b in bars] == [
        (e.rank, e.kind, e.posted * 1e6, (e.end - e.posted) * 1e6) for e in trace
    ]
    assert sum(row["ph"] == "s" for row in rows) == sum(row["ph"] == "f" for row in rows) == 3
