"""The events of a trace file: a list, or an object with the list "traceEvents". Each is tested before it is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lockstep.chrome_traces.json_stream import Malformed, Values, pieces
from lockstep.errors import UsageError

Raw = Mapping[str, Any]
LISTED = "traceEvents"
WITHOUT_TIME = ("M", "c")  # what is said of a thread or process
KEPT = ("lockstep", "distributedInfo")  # of what an object has beside its events


def read(file: Path, about: dict[str, Any], take: Callable[[Raw], None]) -> bool:
    """Call ``take`` for each event in ``file``, in its order. ``about`` gets what stands beside them, when it is read.

    Returns whether the file has its end: a program that was killed leaves a list without one, which the format allows.
    Raises UsageError for anything that is not a trace."""
    values = Values(pieces(file))
    try:
        if values.skip("["):
            return _listed(values, take, may_be_cut=True)
        if values.skip("{"):
            return _object(values, about, take)
        raise Malformed("it is no JSON: it begins with neither [ nor {" if values.next_sign() else "it is empty")
    except Malformed as error:
        raise UsageError(f"{file.name} cannot be opened as a trace: {error}.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None


def _object(values: Values, about: dict[str, Any], take: Callable[[Raw], None]) -> bool:
    seen: set[str] = set()
    while not values.skip("}"):
        if seen:
            values.need(",")
        if values.next_sign() != '"':
            raise Malformed(f"a key is missing {values.place}")
        key = values.value()
        if key in seen:
            raise Malformed(f"the key {key[:40]!r} is there twice")
        seen.add(key)
        values.need(":")
        if key == LISTED:
            values.need("[")
            _listed(values, take, may_be_cut=False)
            continue
        value = values.value()
        if key in KEPT:
            about[key] = value
    if LISTED not in seen:
        raise Malformed(f'it has no list "{LISTED}"')
    _nothing_follows(values)
    return True


def _listed(values: Values, take: Callable[[Raw], None], may_be_cut: bool) -> bool:
    number = 0
    while not values.skip("]"):
        if number:
            values.need(",")
            if may_be_cut and values.skip("]"):  # "…},]", as it may end if a program writes event by event
                break
        if may_be_cut and not values.next_sign():
            return False
        number += 1
        event = values.value()
        if event != {}:  # NCCL's example of a profiler ends so
            check(event, number)
            take(event)
        if may_be_cut and not values.next_sign():
            return False
    if may_be_cut:
        _nothing_follows(values)
    return True


def _nothing_follows(values: Values) -> None:
    if values.next_sign():
        raise Malformed(f"something follows its end {values.place}")


def check(event: Any, number: int) -> None:
    """Raise Malformed for an event without what the format asks of it."""
    if not isinstance(event, dict):
        raise Malformed(f"event {number:,} is no object")
    phase, name = event.get("ph"), event.get("name", "")
    if not isinstance(phase, str) or len(phase) != 1:
        raise Malformed(f"event {number:,} has no ph, its phase")
    if not isinstance(name, str):
        raise Malformed(f"event {number:,} has a name that is no text")
    told = f"event {number:,}, {shown(name)}," if name else f"event {number:,}"
    for key in ("pid", "tid"):
        if isinstance(event.get(key), list | dict):
            raise Malformed(f"{told} has a {key} that is neither number nor text")
    if not isinstance(event.get("args", {}), dict):
        raise Malformed(f"{told} has args that are no object")
    for key in () if phase in WITHOUT_TIME else ("ts", "dur") if phase == "X" else ("ts",):
        if key not in event:
            raise Malformed(f"{told} has no {key}")
        if not is_finite(event[key]):
            raise Malformed(f"{told} has a {key} that is no number of microseconds")
    if phase == "X" and event["dur"] < 0:
        raise Malformed(f"{told} has a negative dur")
    if phase == "X" and not math.isfinite(float(event["ts"]) + float(event["dur"])):
        raise Malformed(f"{told} has no end: ts + dur is not finite")


def is_finite(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def shown(name: str, longest: int = 60) -> str:
    """A name that somebody else gave, fit for a terminal."""
    kept = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name[: longest + 1])
    return kept if len(kept) <= longest else f"{kept[: longest - 1]}…"
