"""Checkpoints that the training does not wait for: the state is copied at once, and a thread writes the copy.

    blocking        step │ step │═══════ write ═══════│ step │ step
    background      step │ step │copy│ step │ step │ step │ step
                                     │═══════ write ═══════│

The copy is what makes it right: the next step changes the weights in place, while the thread still writes. A file is
written under another name, brought to the disk (fsync) and renamed: a crash leaves the last whole one.
(``torch.distributed.checkpoint.async_save`` does the same for sharded states.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

State = Mapping[str, Any]


def write(state: State, file: str | Path) -> None:
    """Write ``state`` to ``file``, completely or not at all."""
    beside = Path(f"{file}.part")
    with open(beside, "wb") as opened:
        torch.save(dict(state), opened)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(beside, file)


def copied(state: State) -> State:
    """A copy of all tensors in ``state``, which no later step changes."""
    found: State = tree_map(lambda value: value.detach().clone() if isinstance(value, Tensor) else value, dict(state))
    return found


class BackgroundWriter:
    """Writes checkpoints in a thread, one after another. Use it as a context: at its end all are written.

    A write that failed raises its error at the next ``save``, or at the end: no failure is lost."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def save(self, state: State, file: str | Path) -> None:
        """Copy now, write later. It waits for the write before this one: only one copy is held at a time."""
        self.wait()
        self._last = self._pool.submit(write, copied(state), file)

    @property
    def is_writing(self) -> bool:
        return self._last is not None and not self._last.done()

    def wait(self) -> None:
        if self._last is not None:
            self._last.result()

    def __enter__(self) -> BackgroundWriter:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.wait()
        finally:
            self._pool.shutdown()


# ---- as a training loop


class Disk(Protocol):
    """``write`` takes long, and raises OSError where it fails; ``rename`` replaces what had the new name."""

    def write(self, name: str, copy: State) -> None: ...
    def rename(self, old: str, new: str) -> None: ...


def checkpoint_without_stopping(
    train_step: Callable[[], object], state: State, steps: int, every: int, disk: Disk
) -> list[int]:
    """Makes all ``steps``, and writes the state after each ``every`` of them to "checkpoint" while it goes on.

    Returns the steps whose checkpoint could not be written: "checkpoint" then stays the last good one."""
    failed: list[int] = []

    def written(step: int, copy: State) -> None:
        try:
            disk.write("checkpoint.part", copy)
        except OSError:
            failed.append(step)
        else:
            disk.rename("checkpoint.part", "checkpoint")

    with ThreadPoolExecutor(1) as pool:
        last: Future[None] | None = None
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(written, step, copied(state))
    return failed
