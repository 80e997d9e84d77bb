"""A lesson's cell that says nothing for two seconds gets a line that counts them: it is at work, and does not hang.

Whoever knows how long something takes says more (``lockstep.tally.counted``): then this is silent.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any
from uuid import uuid4

from IPython.display import display, update_display

SILENT = 2.0  # seconds
MARK = "running-"  # begins the display id of such a line


class Running:
    """One run of a cell. A thread counts, and publishes under the cell: the kernel itself is busy."""

    def __init__(self) -> None:
        self.began = self.spoke = monotonic()
        self.id = f"{MARK}{uuid4().hex}"
        self.shown = False
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._count, daemon=True)
        self.thread.start()

    def _count(self) -> None:
        while not self.over.wait(1.0 if self.shown else 0.25):
            now = monotonic()
            if self.shown or now - self.spoke > SILENT:
                self._tell(f"Running for {now - self.began:.0f} s …")

    def _tell(self, words: str) -> None:
        (update_display if self.shown else display)({"text/plain": words}, display_id=self.id, raw=True)  # type: ignore[no-untyped-call]
        self.shown = True

    def end(self) -> None:
        self.over.set()
        self.thread.join()
        if self.shown:
            self._tell(f"It ran for {monotonic() - self.began:.0f} s.")


class Watch:
    """The cells that run: one, and inside of it perhaps others, which have waited."""

    def __init__(self) -> None:
        self.running: list[Running] = []

    def begin(self, info: Any = None) -> None:
        self.running.append(Running())

    def end(self, result: Any = None) -> None:
        if self.running:
            self.running.pop().end()

    def speaks(self, message: Any) -> Any:
        """A hook of the kernel's: something was shown."""
        if self.running:
            self.running[-1].spoke = monotonic()
        return message


def watch(shell: Any) -> None:
    """Watch this kernel's cells, once; the present one from now on."""
    if not hasattr(shell, "kernel") or getattr(shell, "lockstep_watch", None):
        return
    shell.lockstep_watch = mine = Watch()
    shell.events.register("pre_run_cell", mine.begin)
    shell.events.register("post_run_cell", mine.end)
    shell.display_pub.register_hook(mine.speaks)
    mine.begin()
