"""Ranks of Lockstep that are ranks of Horovod: places, settings, what is refused, what is left, each operation once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch
import waits_cases as cases

from lockstep.errors import RankDied, UsageError, WorldUnavailable
from lockstep.with_horovod import ranks as ranks_module
from lockstep.with_horovod.ranks import NAMES, HorovodRun, checked, run_horovod, slots

HERE = Path(__file__).resolve().parent


def test_the_places_of_ranks_on_one_node() -> None:
    assert [(s.local_rank, s.local_size, s.cross_rank, s.cross_size) for s in slots(["a"] * 3)] == [
        (0, 3, 0, 1),
        (1, 3, 0, 1),
        (2, 3, 0, 1),
    ]


def test_the_places_of_ranks_on_unequal_nodes() -> None:
    """As horovod.runner's get_host_assignments gives them for a:3,b:2,c:3."""
    found = slots(["a"] * 3 + ["b"] * 2 + ["c"] * 3)
    assert [s.local_rank for s in found] == [0, 1, 2, 0, 1, 0, 1, 2]
    assert [s.local_size for s in found] == [3, 3, 3, 2, 2, 3, 3, 3]
    assert [(s.cross_rank, s.cross_size) for s in found] == [
        (0, 3), (0, 3), (0, 2), (1, 3), (1, 3), (2, 3), (2, 3), (1, 2),
    ]  # fmt: skip


@pytest.mark.horovod
def test_the_places_are_those_that_horovod_would_give() -> None:
    from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts

    theirs = get_host_assignments(parse_hosts("a:3,b:2,c:3"), 8)
    assert [vars(s) for s in slots([t.hostname for t in theirs])] == [vars(t) for t in theirs]


def test_settings_become_what_horovod_reads() -> None:
    """It reads numbers: "True" counted as 0, and switched off what was asked for."""
    assert checked({"HOROVOD_TIMELINE_MARK_CYCLES": True, "HOROVOD_CYCLE_TIME": 2.5}) == {
        "HOROVOD_TIMELINE_MARK_CYCLES": "1",
        "HOROVOD_CYCLE_TIME": "2.5",
    }
    assert checked(None) == {}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (3, "settings is a dict of names and values, not int"),
        ({"HOROVOD_CYCEL_TIME": 5}, "no setting 'HOROVOD_CYCEL_TIME'.\nDid you mean HOROVOD_CYCLE_TIME?"),
        ({"fusion_threshold": 5}, "Did you mean HOROVOD_FUSION_THRESHOLD?"),
        ({1: 2}, "Horovod has no setting 1"),
        ({"HOROVOD_RANK": 0}, "Horovod has no setting 'HOROVOD_RANK'"),
        ({"HOROVOD_TIMELINE": "/tmp/t.json"}, "Write timeline=True"),
        ({"HOROVOD_CYCLE_TIME": None}, "HOROVOD_CYCLE_TIME is a number or a text, not NoneType"),
    ],
)
def test_settings_that_horovod_would_not_read_are_refused(settings: Any, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        run_horovod(cases.place, ranks=2, settings=settings)
    assert told in str(raised.value)


@pytest.mark.horovod
def test_the_names_are_in_horovods_library() -> None:
    import horovod.torch.mpi_ops as mpi_ops

    library = Path(mpi_ops.mpi_lib.__file__).read_bytes()
    of_other_builds = {"CCL_CACHE", "DISABLE_NVTX_RANGES", "MPI_THREADS_DISABLE", "NUM_NCCL_STREAMS"}
    unknown = {name.removeprefix("HOROVOD_") for name in NAMES if name.encode() not in library}
    assert unknown <= of_other_builds


@pytest.mark.parametrize("ranks", [0, -1, True, 2.0, "2", None, 10_000])
def test_numbers_of_ranks_that_make_no_sense_are_refused(ranks: Any) -> None:
    with pytest.raises(UsageError, match="rank"):
        run_horovod(cases.place, ranks=ranks)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(UsageError, match="run_horovod needs a function as its first argument, not Tensor"):
        run_horovod(torch.ones(2), ranks=2)  # type: ignore[arg-type]


def test_without_horovod_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise WorldUnavailable("Horovod is not installed here.", "`lockstep horovod` builds it.")

    monkeypatch.setattr(ranks_module, "require", missing)
    with pytest.raises(WorldUnavailable, match="lockstep horovod"):
        run_horovod(cases.place, ranks=2)


@pytest.mark.horovod
def test_each_rank_has_its_place_and_the_environment_is_as_before() -> None:
    before = dict(os.environ)
    run = run_horovod(cases.place, ranks=2)
    assert run.values == [
        {"rank": r, "size": 2, "local_rank": r, "local_size": 2, "cross_rank": 0, "cross_size": 1} for r in range(2)
    ]
    assert dict(os.environ) == before
    assert isinstance(run, HorovodRun)
    assert "2 ranks" in repr(run)
    assert len(run.trace.communication) == 0  # two broadcasts of ours stood there
    assert run.timeline == []


@pytest.mark.horovod
def test_settings_reach_the_ranks_and_a_place_that_was_inherited_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank of horovodrun that starts processes gave them its own place."""
    monkeypatch.setenv("HOROVOD_CYCLE_TIME", "3")
    monkeypatch.setenv("HOROVOD_LOCAL_RANK", "7")
    first, _ = run_horovod(cases.settings, ranks=2, settings={"HOROVOD_FUSION_THRESHOLD": 0}).values
    assert (first["HOROVOD_CYCLE_TIME"], first["HOROVOD_FUSION_THRESHOLD"], first["HOROVOD_LOCAL_RANK"]) == (
        "3",
        "0",
        "0",
    )


@pytest.mark.horovod
def test_every_operation_once() -> None:
    run = run_horovod(cases.every_operation, ranks=3, timeline=True, settings={"HOROVOD_DYNAMIC_PROCESS_SETS": True})
    for rank, got in enumerate(run.values):
        assert got["sum"] == [3.0]
        assert got["among the even"] == ([] if rank == 1 else [2.0])
        assert got["fp16"] == [1.0, 0.0, float("inf")]  # 1e-9 and 1e5 are no numbers of float16
        assert got["gathered"] == [0.0, 1.0, 1.0, 2.0, 2.0, 2.0]
        assert got["from 2"] == [2.0]
        assert got["pieces"] == [rank, 10.0 + rank, 20.0 + rank]
        assert got["mine"] == [3.0 * rank]
        assert got["group"] == [[3.0], [6.0]]
        assert got["object"] == {"step": 7}
        assert got["uneven"] == [3.0, 2.0, 1.0][: rank + 1]  # those that have joined add nothing
        assert got["last"] == 2
    rows = {e["pid"]: e["args"].get("name") for e in run.timeline if e.get("name") == "process_name"}
    dtypes = {rows[e["pid"]]: e["args"]["dtype"] for e in run.timeline if "dtype" in e.get("args", {})}
    assert dtypes["allreduce.half"] == "float16"  # two bytes an element went out
    assert dtypes["allreduce.all"] == "float32"


@pytest.mark.horovod
def test_what_horovod_says_before_it_aborts_is_told() -> None:
    """The rank "was killed by SIGABRT: abort", and why stood in a log that nobody saw."""
    with pytest.raises(RankDied, match=r"SIGABRT: abort \(Unsupported CPU operation type"):
        run_horovod(cases.place, ranks=2, settings={"HOROVOD_CPU_OPERATIONS": "abacus"})


@pytest.mark.horovod
def test_a_rank_starts_no_ranks() -> None:
    with pytest.raises(Exception, match=r"run\(\) was called by a rank of another run"):
        run_horovod(lambda: run_horovod(cases.place, ranks=2), ranks=2)


@pytest.mark.horovod
def test_what_cannot_come_back_is_named() -> None:
    """It was "the tuple that was returned": the function had returned a generator."""
    with pytest.raises(Exception, match="the generator that was returned cannot be sent back"):
        run_horovod(lambda: (n for n in range(3)), ranks=2)


INTERRUPTED = """
    import os, signal, threading, time
    from lockstep.launch import server
    from lockstep.with_horovod.ranks import run_horovod
    import waits_cases as cases

    run_horovod(cases.place, ranks=2)
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        run_horovod(cases.one_never_comes, ranks=3, timeline=True)
    except KeyboardInterrupt:
        print("interrupted")
    print(run_horovod(cases.one_is_slow, 0, ranks=3).values)
"""


@pytest.mark.horovod
def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    program = [sys.executable, "-c", textwrap.dedent(INTERRUPTED)]
    done = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=120, check=False, start_new_session=True
    )
    assert done.stdout.splitlines() == ["interrupted", "[3.0, 3.0, 3.0]"], done.stderr
    assert done.stderr == ""
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(("lockstep", "tmp"))] == []


@pytest.mark.horovod
@pytest.mark.slow
def test_under_torchrun_it_is_the_same_program_and_a_deadlock_is_told_alike(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        textwrap.dedent("""
        import json, os, sys
        from pathlib import Path
        import waits_cases as cases
        from lockstep.errors import Deadlock
        from lockstep.with_horovod.ranks import run_horovod

        told = []
        for turn in range(2):
            told.append([v["rank"] for v in run_horovod(cases.place).values])
            try:
                run_horovod(cases.in_different_orders)
            except Deadlock as error:
                told.append([s.operation for s in error.states])
        Path(sys.argv[1], os.environ["RANK"]).write_text(json.dumps(told))
        """)
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*torchrun, str(file), str(tmp_path)], env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    for rank in range(2):
        assert json.loads((tmp_path / str(rank)).read_text()) == [[0, 1], ["allreduce 'a'", "allreduce 'b'"]] * 2


@pytest.mark.horovod
def test_a_script_that_begins_and_ends_horovod_itself_runs_unchanged() -> None:
    run = run_horovod(cases.a_whole_script, ranks=2, timeline=True)
    assert run.values == [2.0, 2.0]
    assert any(e.get("args", {}).get("name") == "allreduce.one" for e in run.timeline)
