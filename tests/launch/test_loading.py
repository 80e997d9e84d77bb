"""What is loaded where: a server has torch from its beginning, large parts of it when a run will need them; a command
that has started ranks has loaded torch once, and not once more in a server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lockstep.checks import play
from lockstep.collectives.ring import ring_all_reduce
from lockstep.launch.job import Job
from lockstep.launch.large import FAKE, LARGE

OUTSIDE = """
import sys
from lockstep import run

def nothing():
    return any("distributed.tensor.parallel" in name for name in sys.modules)

def names_pipelining():
    there = "torch.distributed.pipelining" in sys.modules
    import torch.distributed.pipelining
    return there

def loss_is_patched():
    import importlib
    loss = importlib.import_module(".".join(["torch", "distributed", "tensor", "parallel", "loss"]))
    return loss._enable_custom_loss_ops.__module__

for on in ("processes", "dgx-a100"):
    assert run(nothing, ranks=2, on=on).values == [False, False], on
assert run(loss_is_patched, ranks=2, on="dgx-a100").values == ["lockstep.virtual.shared_torch"] * 2
assert run(nothing, ranks=2, on="processes").values == [True, True], "what a rank has needed, the next have"
assert run(names_pipelining, ranks=2, on="processes").values == [True, True]
"""


def test_large_parts_of_torch_are_loaded_when_a_run_will_need_them(tmp_path: Path) -> None:
    """They took 1 s of every first run; now of those that look as if they needed them, and of the next after one that
    did."""
    program = tmp_path / "outside.py"
    program.write_text(OUTSIDE)
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("fn", "fake", "wanted"),
    [
        (lambda: 1, False, []),
        (lambda: 1, True, [FAKE]),
        (lambda: torch.optim.SGD([torch.zeros(1)]).step(), False, [*LARGE]),
        (lambda: fully_shard(torch.nn.Linear(1, 1)), False, [*LARGE]),  # type: ignore[name-defined]  # noqa: F821
        (ring_all_reduce, False, [*LARGE]),
        (play.play, False, []),
    ],
)
def test_who_looks_as_if(
    fn: Callable[..., Any], fake: bool, wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LARGE:
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert Job.pack(fn, (), {}, 2, fake=fake).large_modules == wanted


WHO = """
import os
import psutil

def who():
    return [" ".join(p.cmdline()) for p in psutil.Process().parents()[:2]]
"""


def test_the_command_that_starts_ranks_is_their_server_too(tmp_path: Path) -> None:
    """`lockstep run` took twice as long: it loaded torch, and so did a server that it started."""
    (tmp_path / "who.py").write_text(WHO)
    command = [sys.executable, "-m", "lockstep", "run", "who.py:who", "--ranks", "1", "--on", "processes"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "forkserver" not in told
    assert told.count("run who.py:who") == 2
