"""Whether the kernel has killed a process for want of memory: a process that was killed by SIGKILL cannot tell.

The kernel counts such kills for each control group (cgroup v2: ``oom_kill`` in ``memory.events``; v1: in
``memory.oom_control``; https://docs.kernel.org/admin-guide/cgroup-v2.html) and for the whole machine (``oom_kill`` in
``/proc/vmstat``).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

GROUPS, MEMBERSHIP, MACHINE = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup"), Path("/proc/vmstat")


class MemoryKills:
    """The counts at this moment. Each folder or file is an argument, so that a test can simulate another machine."""

    def __init__(self, groups: Path = GROUPS, membership: Path = MEMBERSHIP, machine: Path = MACHINE) -> None:
        self._group = [count for file in _files(groups, membership) if (count := _count(file)) is not None]
        self._machine = _count(machine)

    def since(self, before: MemoryKills) -> bool | None:
        """Whether a process of this control group has been killed for want of memory since ``before``. None if that is
        unknown: nothing is counted here, or only somewhere on this machine."""
        if sum(self._group) > sum(before._group):
            return True
        return False if self._machine is not None and self._machine == before._machine else None


@cache
def _files(groups: Path, membership: Path) -> list[Path]:
    """The counters of this process's control group; where it sees a part of the tree only, that of the part's root."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers in ("", "memory"):
            folder, name = groups / controllers, "memory.oom_control" if controllers else "memory.events"
            own = folder / group.lstrip("/") / name
            found.append(own if own.exists() else folder / name)
    return found


def _count(file: Path) -> int | None:
    try:
        found = re.search(r"^oom_kill (\d+)$", file.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) if found else None
