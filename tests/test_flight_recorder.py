"""Dumps of failed runs, read by torch's own analysis of a flight recorder's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.flight_recorder.components.builder import build_db
from torch.distributed.flight_recorder.components.config_manager import JobConfig
from torch.distributed.flight_recorder.components.loader import read_dir
from torch.distributed.flight_recorder.components.types import MatchState

from lockstep import run
from lockstep.errors import Deadlock, Mismatch, RunError
from lockstep.events import Trace
from lockstep.flight_recorder import dump


def analysed(trace: Trace | None, folder: Path) -> list[Any]:
    """The collectives that fr_trace finds in the dumps of ``trace``."""
    assert trace is not None
    files = dump(trace, folder)
    assert [f.name for f in files] == [f"rank_{r}" for r in range(trace.ranks)]
    args: Any = JobConfig().parse_args([str(folder)])
    details, version = read_dir(args)
    return list(build_db(details, args, version).collectives)


def failed(fn: Callable[[], object], error: type[RunError], ranks: int = 3, on: str = "dgx-a100") -> Trace | None:
    with pytest.raises(error) as caught:
        run(fn, ranks=ranks, on=on)
    return caught.value.trace


def suspects(found: list[Any]) -> list[tuple[str, set[int]]]:
    return [(c.collective_name, c.missing_ranks) for c in found if c.missing_ranks]


def one_stays_away() -> None:
    x = torch.ones(3)
    dist.all_reduce(x)
    if dist.get_rank() != 2:
        dist.all_reduce(x)


@pytest.mark.parametrize("world", ["dgx-a100", "processes"])
def test_who_stayed_away_from_a_collective(tmp_path: Path, world: str) -> None:
    found = analysed(failed(one_stays_away, Deadlock, on=world), tmp_path)
    assert [c.pass_check for c in found if not c.missing_ranks] == [True]
    assert suspects(found) == [("nccl:all_reduce", {2})]
    line = one_stays_away.__code__.co_firstlineno + 4
    frame = found[-1].collective_frames[0]
    assert frame["filename"] == f"{Path(__file__).name}, line {line}, in one_stays_away"


def test_a_circle_of_receives(tmp_path: Path) -> None:
    """Each waits for a message that its sender, who waits itself, has not sent."""

    def all_receive() -> None:
        dist.recv(torch.ones(1), (dist.get_rank() + 1) % 3)

    found = suspects(analysed(failed(all_receive, Deadlock), tmp_path))
    assert found == [("nccl:recv 1<-0", {0}), ("nccl:recv 0<-1", {1}), ("nccl:recv 0<-1", {2})]


def test_different_collectives(tmp_path: Path) -> None:
    def differ() -> None:
        x = torch.ones(1)
        if dist.get_rank() == 0:
            dist.broadcast(x, 0)
        else:
            dist.all_reduce(x)

    (found,) = analysed(failed(differ, Mismatch, ranks=2), tmp_path)
    assert found.mismatch_collectives[1].type_of_mismatch.state is MatchState.COLLECTIVE_TYPE_MISMATCH


def everything() -> None:
    rank, size, x = dist.get_rank(), dist.get_world_size(), torch.ones(4)
    many, more = [torch.ones(4) for _ in range(size)], [torch.ones(4) for _ in range(size)]
    pair = dist.new_group([0, 2])
    dist.barrier()
    dist.all_gather(many, x)
    dist.gather(x, many if rank == 1 else None, dst=1)
    dist.scatter(x, many if rank == 1 else None, src=1)
    dist.reduce_scatter(x, many)
    dist.all_to_all(many, more)
    dist.broadcast(x, 2)
    dist.reduce(x, 0)
    if rank != 1:
        dist.all_reduce(x, group=pair)
    other = torch.empty(4)
    sending = dist.isend(x, (rank + 1) % size)
    dist.recv(other)
    sending.wait()


def test_a_run_without_a_fault_has_none(tmp_path: Path) -> None:
    """Every kind of operation, a smaller group, and receives from any source, which by then have a sender."""
    found = analysed(run(everything, ranks=3, on="dgx-a100").trace, tmp_path)
    assert len(found) == 8 + 1 + 3
    assert all(c.pass_check and not c.missing_ranks for c in found)


def test_the_command_reads_them(tmp_path: Path) -> None:
    from torch.distributed.flight_recorder.fr_trace import main

    trace = failed(one_stays_away, Deadlock)
    assert trace is not None
    dump(trace, tmp_path / "new" / "folder")
    main([str(tmp_path / "new" / "folder"), "-o", str(tmp_path / "database")])
    assert (tmp_path / "database").stat().st_size > 0
