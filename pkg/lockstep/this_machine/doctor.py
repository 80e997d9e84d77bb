"""What on this machine could stand in a learner's way, each with a line that says how to mend it.

findings = examine()        print(table(findings))        json.dumps(to_json(findings))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from typing import Any

from lockstep.this_machine import checkup
from lockstep.this_machine.checkup import Finding

__all__ = ["CHECKS", "Finding", "examine", "table", "to_json"]

CHECKS: dict[str, Callable[[], Finding]] = {
    "Python": checkup.python,
    **{name: partial(checkup.package, name) for name in checkup.VERSIONS},
    "cores": checkup.cores,
    "memory": checkup.memory,
    "GPUs": checkup.gpus,
    "shared memory": checkup.shared_memory,
    "loopback": checkup.loopback,
    "hostname": checkup.hostname,
    "ranks": checkup.ranks,
    "home": checkup.home_folder,
    "disk": checkup.disk,
    "g++": partial(checkup.compiler, ("g++", "clang++")),
    "make": partial(checkup.compiler, ("make",)),
    "Horovod": checkup.horovod,
}


def examine(checks: dict[str, Callable[[], Finding]] = CHECKS) -> list[Finding]:
    """Everything, in a second or two. A check that fails itself is a finding, too."""
    return [_safely(name, check) for name, check in checks.items()]


def table(findings: Iterable[Finding]) -> str:
    """Plain text: a line for each finding, and its advice below it where something is wrong."""
    lines = []
    for f in findings:
        mark = "ok  " if f.ok else "note" if f.optional else "FAIL"
        lines.append(f"{mark}  {f.name:<14} {f.value}")
        if not f.ok:
            lines.append(f"{'':<21}{f.advice}")
    return "\n".join(lines)


def to_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Plain data; the advice only where it is needed."""
    return [asdict(f) | {"advice": "" if f.ok else f.advice} for f in findings]


def _safely(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:
        return Finding(name, False, f"could not be examined: {type(error).__name__}: {error}", "Please report this.")
