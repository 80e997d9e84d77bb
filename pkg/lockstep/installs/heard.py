"""A command whose lines are heard as they come; and why it failed, in one sentence."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import WorldUnavailable

Tell = Callable[[str, float], None]  # called with what is going on, and how much of all is done, 0.0 to 1.0

CAUSES = (  # patterns that explain a failure, best first
    r"connection broken by .*?((?:Failed|Name|No|\[Errno)[^'\")]*)",
    r"error: (?!subprocess-exited)(.*)",
    r"(CMake Error.*(?:\n.*){0,2})",
    r"^\s*(\w+Error: .*)",
    r"ERROR: (.*)",
    r"(No module named .*)",
)


@dataclass(frozen=True)
class Heard:
    """A command's exit status and its output."""

    status: int
    lines: list[str]


def hear(command: Sequence[str], env: Mapping[str, str], each: Callable[[str], None] = lambda line: None) -> Heard:
    """Run a command; ``each`` gets its lines as they come. If anything interrupts this, the command is killed."""
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    lines = []
    try:
        assert process.stdout
        for line in process.stdout:
            lines.append(line.rstrip())
            each(lines[-1])
        return Heard(process.wait(), lines)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def reason(lines: Sequence[str]) -> str:
    """The line of the output that best explains the failure."""
    said = "\n".join(lines)
    found = next(filter(None, (re.search(cause, said, re.MULTILINE) for cause in CAUSES)), None)
    return " ".join(found[1].split()) if found else lines[-1] if lines else "it said nothing"


def failed(what: str, lines: Sequence[str], again: str, log: Path | None = None) -> WorldUnavailable:
    """The error to raise. ``again``: the command to repeat. With a ``log``, all that was said is written there."""
    remedy = f"Is there a network? Then run `{again}` again."
    if log:
        log.write_text("\n".join([*lines, ""]))
        remedy = f"All that was said is in {log}. Then run `{again}` again."
    return WorldUnavailable(f"{what}: {reason(lines)}", remedy)
