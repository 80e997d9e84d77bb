"""The Trace in a file that ``Trace.to_chrome`` has written, field by field as strict as its types say."""

from __future__ import annotations

from typing import Any

from lockstep.chrome_traces.events_of_file import Raw, is_finite
from lockstep.errors import UsageError
from lockstep.events import COLLECTIVES, POINT_TO_POINT, Event, Trace, Unequal

MOST_RANKS = 100_000
KINDS = ("compute", *POINT_TO_POINT, *COLLECTIVES)
WHAT = ("speed", "memory", "bandwidth", "latency", "compute jitter", "message jitter")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 0


def _is_time(value: Any) -> bool:
    return is_finite(value) and value >= 0


def _are_ranks(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_count, value))


IS = {
    "kind": lambda v: v in KINDS,
    **dict.fromkeys(("rank", "nbytes", "flops"), _is_count),
    **dict.fromkeys(("peer", "tag"), _is_whole),
    "message": _is_count,
    "meanwhile": _is_count,
    **dict.fromkeys(("start", "end", "posting", "wait"), _is_time),
    **dict.fromkeys(("name", "where", "early", "backend"), lambda v: isinstance(v, str)),
    **dict.fromkeys(("awaited", "changed"), lambda v: isinstance(v, bool)),
    "group": _are_ranks,
}


class Rows:
    """The events of a run, one by one. Raises UsageError for what ``Trace.to_chrome`` does not write."""

    def __init__(self, about: Any, file: str) -> None:
        self._file, self._events = file, list[Event]()
        about = about if isinstance(about, dict) else {}
        self._ranks, self._world, self._cluster = (about.get(k) for k in ("ranks", "world", "cluster"))
        unequal = about.get("unequal")
        self._unequal = unequal if isinstance(unequal, list) else []
        named = isinstance(self._world, str) and isinstance(self._cluster, str)
        if not (
            named and _is_count(self._ranks) and self._ranks <= MOST_RANKS and all(map(_is_unequal, self._unequal))
        ):
            raise self._not_ours("what it says of its run")

    def take(self, event: Raw) -> None:
        if event["ph"] != "X":
            return
        fields = event.get("args", {})
        wrong = [name for name, value in fields.items() if name not in IS or not IS[name](value)]
        if wrong or not {"rank", "kind", "start", "end"} <= fields.keys():
            raise self._not_ours(f"the {wrong[0][:20]} of an event" if wrong else "an event that lacks something")
        found = Event(**{**fields, "group": tuple(fields.get("group", ()))})
        if not (found.rank < self._ranks and max(found.posted, found.start) <= found.end):
            raise self._not_ours("the rank or the times of an event")
        self._events.append(found)

    def trace(self) -> Trace:
        unequal = [Unequal.from_json(u) for u in self._unequal]
        return Trace.of(self._events, self._ranks, self._world, self._cluster, unequal)

    def _not_ours(self, what: str) -> UsageError:
        return UsageError(f"{self._file} says that Lockstep has written it, but {what} is none of ours.")


def _is_unequal(value: Any) -> bool:
    if not (isinstance(value, list) and len(value) == 3):
        return False
    ranks, what, number = value
    return _are_ranks(ranks) and what in WHAT and _is_time(number)
