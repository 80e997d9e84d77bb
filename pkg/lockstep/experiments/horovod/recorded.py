"""Recorded results of the lesson's demos, for machines without Horovod.

    python -m lockstep.experiments.horovod.recorded             runs all of them, and writes data/*.json
    python -m lockstep.experiments.horovod.recorded fusion      runs and writes only this one

A demo is a function without arguments that returns plain data: None, numbers, text, and lists and dicts of these.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lockstep.errors import TimeLimit, UsageError
from lockstep.with_horovod.available import MISSING, REMEDY, available
from lockstep.with_horovod.timeline import counts, names

DATA = Path(__file__).parent / "data"
KEYS = ("ph", "name", "ts", "pid", "args", "dur", "s")  # of a timeline's event; it is written as a row, for brevity
ROWS = "timeline in rows"
BUSY = "This machine did not come to its end in time: run the cell again when less is at work here."

Demo = Callable[[], Any]


@dataclass(frozen=True)
class Recording:
    """A demo's result, and where it comes from. ``made``: the date, the number of cores, the versions of torch and
    Horovod."""

    value: Any
    made: Mapping[str, Any]

    def __str__(self) -> str:
        at = f"{self.made['cores']} cores, torch {self.made['torch']}, Horovod {self.made['horovod']}"
        return f"Recorded on {self.made['date']} ({at})."


def or_recorded(name: str) -> Any:
    """The result of the demo of this name; where Horovod is missing, or this machine is too busy for the demo to
    finish, the result from another machine, with a line that says so.

    Raises UsageError if there is no such demo."""
    why = f"{MISSING} {REMEDY}"
    if available():
        try:
            return _plain(demo(name)())
        except TimeLimit:
            why = BUSY
    found = recording(name)
    print(found, why)
    return found.value


def recording(name: str) -> Recording:
    """The recording of the demo of this name. Raises UsageError if there is none."""
    path = DATA / f"{name}.json"
    if not path.is_file():
        raise UsageError(f"Nothing is recorded of {name!r}.", f"There is: {', '.join(recorded_names())}.")
    written = json.loads(path.read_text(encoding="utf-8"))
    return Recording(_with_timelines(written["value"]), written["made"])


def recorded_names() -> list[str]:
    return sorted(path.stem for path in DATA.glob("*.json"))


def demos() -> dict[str, Demo]:
    """All demos that can be recorded: the lesson's, and the timelines that an exercise asks about."""
    from lockstep.experiments.horovod.demos import DEMOS  # these need torch's worlds; a recording needs none of it
    from lockstep.experiments.horovod.specimens import timelines

    return {**DEMOS, "timelines": timelines}


def demo(name: str) -> Demo:
    """The demo of this name. Raises UsageError if there is none."""
    found = demos()
    if name not in found:
        raise UsageError(f"There is no demo {name!r}.", f"There is: {', '.join(sorted(found))}.")
    return found[name]


def record(name: str, folder: Path = DATA) -> Path:
    """Run a demo and write its result to a file, with the date, the number of cores and the versions. No host, no
    path."""
    made = {
        "date": date.today().isoformat(),
        "cores": os.cpu_count(),
        "torch": version("torch"),
        "horovod": version("horovod"),
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    value = _without_timelines(_plain(demo(name)()))
    path.write_text(json.dumps({"made": made, "value": value}, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def structure(value: Any) -> Any:
    """What two runs of a demo have in common: keys, lengths and types, but no number and no time. For a timeline, its
    tensors, and how often each operation carried one."""
    if _is_timeline(value):
        return [sorted(names(value).values()), counts(value).tensors]
    if isinstance(value, dict):
        return {key: structure(one) for key, one in value.items()}
    if isinstance(value, list):
        return [structure(one) for one in value]
    return "number" if isinstance(value, float | int) and not isinstance(value, bool) else type(value).__name__


def _plain(value: Any) -> Any:
    """The result as it would be read back from a file, so that a lesson sees the same with Horovod and without."""
    return json.loads(json.dumps(value, allow_nan=False))


def _is_timeline(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, dict) and "ph" in e for e in value)


def _without_timelines(value: Any) -> Any:
    """Each timeline as {ROWS: rows}, where each row has an event's values in the order of KEYS."""
    if _is_timeline(value):
        return {ROWS: [_row(event) for event in value]}
    if isinstance(value, dict):
        return {key: _without_timelines(one) for key, one in value.items()}
    return [_without_timelines(one) for one in value] if isinstance(value, list) else value


def _row(event: Mapping[str, Any]) -> list[Any]:
    row = [event.get(key) for key in KEYS]
    while row[-1] is None:
        row.pop()
    return row


def _with_timelines(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {ROWS}:
        return [{k: v for k, v in zip(KEYS, row, strict=False) if v is not None} for row in value[ROWS]]
    if isinstance(value, dict):
        return {key: _with_timelines(one) for key, one in value.items()}
    return [_with_timelines(one) for one in value] if isinstance(value, list) else value


def main(chosen: Sequence[str]) -> None:
    for name in chosen or sorted(demos()):
        path = record(name)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
