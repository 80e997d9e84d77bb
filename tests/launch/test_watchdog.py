"""The watchdog reads a rank's stack off its log."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lockstep.forking import forkserver, spawned
from lockstep.launch.watchdog import Watchdog


@pytest.mark.parametrize("begins_in", [forkserver, spawned], ids=lambda module: module.__name__)
def test_a_stack_is_whole_when_its_outermost_frame_is_there(begins_in: ModuleType, tmp_path: Path) -> None:
    """spares.py became spawned.py, and the watchdog went on looking for the old name: with LOCKSTEP_START=spawn no
    stack was ever whole, and a deadlock was found only when the time was up."""
    whole = f'  File "ring.py", line 3 in ring\n  File "{inspect.getfile(begins_in)}", line 9 in main\n'
    log = tmp_path / "log"
    child: Any = SimpleNamespace(log=str(log))
    watchdog = Watchdog([child])
    watchdog.threads[0] = 127
    log.write_text(f"Current thread 0x{127:016x} (most recent call first):\n{whole}")
    assert [function for _, _, function in watchdog._read(0, 0)] == ["ring", "main"]
    log.write_text(f"Current thread 0x{127:016x} (most recent call first):\n" + whole.splitlines()[0])
    assert watchdog._read(0, 0) == (), "it is still being written"
