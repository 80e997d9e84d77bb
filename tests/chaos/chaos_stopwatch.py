"""How long a learner waits for the error, from the moment of the harm on: measured and printed, never asserted."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TypeVar

from chaos_cases import Case
from chaos_harms import now

from lockstep.errors import RunError

Found = TypeVar("Found")
told: dict[tuple[str, str], list[float]] = {}  # (world, kind of harm) → seconds


class Stopwatch:
    def __init__(self, directory: Path) -> None:
        self._clock = directory / "clock"

    def start(self, case: Case) -> Case:
        case.harm.clock = str(self._clock)
        self._kind = case.harm.kind
        return case

    def stop(self, found: Found, world: str) -> Found:
        if isinstance(found, RunError) and self._clock.exists():
            told.setdefault((world, self._kind), []).append(now() - float(self._clock.read_text()))
        return found


def summary() -> list[str]:
    """One line for each world and harm. A loop is only known for one when the run's time (2 s here) is up."""
    rows = [
        f"{world:<12}{kind:<8}{len(times):>4} times: median {median(times):5.2f} s, longest {max(times):5.2f} s"
        for (world, kind), times in sorted(told.items())
    ]
    return ["seconds from the harm to the error:", *rows] if rows else []
