"""What is loaded where: a server has torch from its beginning, large parts of it when a run will need them; a command
that has started ranks has loaded torch once, and not once more in a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lockstep.launch.job import FAKE, LARGE, Job

OUTSIDE = """
import sys
from lockstep import run

def names_it():
    there = "torch.distributed.pipelining" in sys.modules
    import torch.distributed.pipelining
    return there

def names_nothing():
    return [name for name in sys.modules if "fsdp" in name or "distributed.tensor" in name]

def loss_is_patched():
    import importlib
    loss = importlib.import_module(".".join(["torch", "distributed", "tensor", "parallel", "loss"]))
    return loss._enable_custom_loss_ops.__module__

for on in ("processes", "dgx-a100"):
    assert run(names_nothing, ranks=2, on=on).values == [[], []], on
assert run(loss_is_patched, ranks=2, on="dgx-a100").values == ["lockstep.virtual.shared_torch"] * 2
for on in ("processes", "dgx-a100"):
    assert run(names_it, ranks=2, on=on).values == [True, True], on
import torch.distributed.fsdp
assert run(names_nothing, ranks=2, on="processes").values[0]
"""


def nothing() -> None:
    """Says nothing of torch."""


def test_large_parts_of_torch_are_loaded_when_a_run_will_need_them(tmp_path: Path) -> None:
    """Each took 0.6 to 0.9 s, of every first run; now of those that name one, or whose caller has loaded it."""
    program = tmp_path / "outside.py"
    program.write_text(OUTSIDE)
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_simulation_without_data_needs_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LARGE:
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert Job.pack(nothing, (), {}, 2).large_modules == []
    assert Job.pack(nothing, (), {}, 2, fake=True).large_modules == [FAKE]


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
