"""check() in a script that torchrun has started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.xdist_group("launchers")
def test_a_script_that_calls_check_is_judged_by_its_messages(tmp_path: Path) -> None:
    """The marks that part the trace bore the script's line, so that no message was seen: a star passed for a ring."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "pkg"), "LOCKSTEP_HOME": str(tmp_path)}
    done = subprocess.run(
        [*torchrun, str(HERE / "script_with_checks.py")], env=env, capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = list(map(json.loads, done.stdout.splitlines()))
    star, ring, library, at_once, overlapped, slow_function, slow_machine = told
    assert star[0] == "wrong"
    assert star[2] > 0
    assert ring[0] == "passed"
    assert ring[2] > 0
    assert library[:2] == ["wrong", ["library-call"]]
    assert at_once[:2] == ["wrong", ["waits-at-once"]], "it passed: no world but the virtual one saw compute"
    assert overlapped[0] == "passed"
    assert slow_function[0] == "crashed", "the course's own answer was quick"
    assert slow_machine[0] == "ungraded", "a busy machine was a zero"
