"""Programs and functions as Horovod's own launchers start them, and checks under ``horovodrun``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest

import lockstep
from lockstep.errors import LockstepError, TimeLimit
from lockstep.with_horovod.launched import called, horovodrun

pytestmark = [pytest.mark.horovod, pytest.mark.xdist_group("launchers")]

SCRIPT = """\
import sys
import time
import horovod.torch as hvd
import torch

hvd.init()
total = hvd.allreduce(torch.ones(2) * (1 + hvd.rank()), op=hvd.Sum, name="total")
print(f"rank {hvd.rank()} of {hvd.size()}: {total.tolist()} {sys.argv[1:]}", flush=True)
time.sleep(1)  # what its timeline has not written yet when it ends, Horovod drops
"""
RING = Path(lockstep.__file__).parent / "exercises/communication/ring_all_reduce/right/even_and_odd.py"
SLEEPS = """\
import os, sys, time
from pathlib import Path

Path(sys.argv[1], os.environ["HOROVOD_RANK"]).write_text(str(os.getpid()))
print("here", flush=True)
time.sleep(600)
"""


def program(folder: Path, text: str) -> str:
    (folder / "program.py").write_text(text)
    return str(folder / "program.py")


def test_a_script_under_horovodrun(tmp_path: Path) -> None:
    done = horovodrun(program(tmp_path, SCRIPT), "one two", ranks=2, timeline=True, timeout=240)
    assert done.status == 0, done.output
    lines = sorted(line for line in done.output.splitlines() if line.startswith("["))
    assert lines == [f"[{rank}]<stdout>:rank {rank} of 2: [3.0, 3.0] ['one two']" for rank in range(2)]
    assert "allreduce.total" in {e.get("args", {}).get("name") for e in done.timeline}, "the timeline came with it"


@pytest.mark.slow
def test_ranks_that_do_not_end_are_ended(tmp_path: Path) -> None:
    """They are in sessions of their own: ending horovodrun alone leaves them."""
    with pytest.raises(TimeLimit) as raised:
        horovodrun(program(tmp_path, SLEEPS), str(tmp_path), ranks=2, timeout=30)
    assert "[0]<stdout>:here" in str(raised.value)
    assert "Traceback" not in str(raised.value)
    numbers = [int((tmp_path / str(rank)).read_text()) for rank in range(2)]
    assert [n for n in numbers if psutil.pid_exists(n) and psutil.Process(n).status() != "zombie"] == []


@pytest.mark.slow
def test_horovod_run_calls_a_function() -> None:
    def mine(x: int) -> Any:
        import horovod.torch as hvd

        hvd.init()
        return hvd.rank() * x, hvd.size()

    assert called(mine, 3, ranks=2, timeout=240) == [(0, 2), (3, 2)]


@pytest.mark.slow
def test_a_function_that_fails_is_quoted() -> None:
    def mine() -> None:
        raise ValueError("no such thing")

    with pytest.raises(LockstepError, match=r"ValueError: no such thing"):
        called(mine, ranks=2, timeout=240)


@pytest.mark.slow
def test_a_check_under_horovodrun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    asked = ("-m", "lockstep", "check", "communication.ring_all_reduce", str(RING), "--json")
    done = horovodrun(*asked, ranks=2, timeout=240)
    told = "".join(line.partition(":")[2] for line in done.output.splitlines() if line.startswith("[0]<stdout>:"))
    assert done.status == 0, done.output
    assert json.loads(told)["verdict"] == "passed"
    assert "[1]<stdout>" not in done.output, "rank 0 speaks for all"
