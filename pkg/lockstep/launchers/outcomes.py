"""The exchange of outcomes between ranks of a launcher: through the group's store, which works even when the group is
broken, while silent ranks are watched.

A rank that is killed or stopped reports nothing. Ranks of one node can check each other's processes; of a rank on
another node it is only known that it has not reported.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import pickle
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from lockstep.comm import restricted_pickle
from lockstep.launchers.detection import Environment

SLICE = 0.3  # seconds between two checks of the missing ranks
_NAMESPACE = Path("/proc/self/ns/pid")


class Lost(Exception):
    """``rank`` will not report: its process is "gone", "stopped", or has been "silent" for too long."""

    def __init__(self, rank: int, how: str, exitcode: int | None = None) -> None:
        super().__init__(f"rank {rank} is {how}")
        self.rank, self.how, self.exitcode = rank, how, exitcode


class Identity(NamedTuple):
    """Identifies a process for others on the same node: node, pid and start time."""

    node: str
    pid: int
    born: float

    @classmethod
    def mine(cls) -> Identity:
        namespace = os.readlink(_NAMESPACE) if _NAMESPACE.exists() else ""
        return cls(f"{platform.node()} {namespace}", os.getpid(), psutil.Process().create_time())

    def state(self) -> tuple[str, int | None]:
        """The process's state: "gone" (with its exit status, if it can still be read), "stopped" or "there"."""
        try:
            process = psutil.Process(self.pid)
            status = process.status() if process.create_time() == self.born else "gone"
        except psutil.NoSuchProcess:
            status = "gone"
        except psutil.Error:
            status = "there"
        if status in ("gone", psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return "gone", self._exitcode()
        return ("stopped" if status == psutil.STATUS_STOPPED else "there"), None

    def _exitcode(self) -> int | None:
        """The exit status of a zombie, from the last field of its stat; None if it has been reaped."""
        with contextlib.suppress(OSError, ValueError):
            return os.waitstatus_to_exitcode(int(Path(f"/proc/{self.pid}/stat").read_text().split()[-1]))
        return None


class Exchange:
    """An all-gather of reports through a store. ``limit``: seconds after which a silent rank is considered lost."""

    def __init__(self, store: Any, environment: Environment, limit: float) -> None:
        self._store, self._me, self._size = store, environment.rank, environment.world_size
        self._limit = limit
        self._identities: list[Identity] = []

    def begin(self) -> None:
        """Exchange the identities of all ranks. Raises Lost if one does not arrive."""
        self.tell("begin", Identity.mine())
        self._identities = self.hear("begin")

    def tell(self, what: str, mine: Any) -> None:
        self._store.set(f"{what}-{self._me}", pickle.dumps(mine))

    def hear(self, what: str) -> list[Any]:
        """Wait for the reports of all ranks. Raises Lost if one of them will not report."""
        deadline, suspects = time.monotonic() + self._limit, frozenset[int]()
        while missing := self._missing(what):
            if time.monotonic() > deadline:
                raise Lost(missing[0], "silent")
            suspects = self.look(missing, suspects)
            with contextlib.suppress(RuntimeError):  # timeout
                self._store.wait([f"{what}-{r}" for r in missing], datetime.timedelta(seconds=SLICE))
        return self.heard(what)

    def heard(self, what: str) -> list[Any]:
        """The reports so far; None for ranks that have not reported."""
        missing = self._missing(what)
        return [
            None if r in missing else restricted_pickle.opened(self._store.get(f"{what}-{r}"))
            for r in range(self._size)
        ]

    def _missing(self, what: str) -> list[int]:
        return [r for r in range(self._size) if not self._store.check([f"{what}-{r}"])]

    def look(self, missing: Sequence[int], suspects: frozenset[int] = frozenset()) -> frozenset[int]:
        """Check the missing ranks, and return those that are stopped. Raises Lost for one that is gone, or that was
        stopped at the last check already (``suspects``)."""
        here = [i.node for i in self._identities[self._me : self._me + 1]]
        states = {r: self._identities[r].state() for r in missing if here and self._identities[r].node == here[0]}
        for rank, (state, exitcode) in states.items():
            if state == "gone":
                raise Lost(rank, state, exitcode)
            if state == "stopped" and rank in suspects:
                raise Lost(rank, state)
        return frozenset(r for r, (state, _) in states.items() if state == "stopped")
