"""Horovod's own timeline: events in Chrome's trace format, written by rank 0, the coordinator.

    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "allreduce.w"}}     row 1 is the tensor allreduce.w
    {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 23365, "pid": 1}                  something begins there, in µs
    {"ph": "X", "name": "3", "ts": 23418, "pid": 1, "dur": 0}                          rank 3 has it ready
    {"ph": "E", "ts": 31551, "pid": 1}                                                 what began last there ends
    {"ph": "i", "name": "CYCLE_START", "ts": 31560, "s": "g"}                          with HOROVOD_TIMELINE_MARK_CYCLES

Row 0 is no tensor. Source: horovod/common/timeline.cc of Horovod 0.28.1.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Timeline = list[dict[str, Any]]

NEGOTIATE = "NEGOTIATE_"
BYTES = {"float16": 2, "float32": 4, "float64": 8, "uint8": 1, "int8": 1, "uint16": 2,
         "int16": 2, "int32": 4, "int64": 8, "bool": 1}  # fmt: skip


class Span(NamedTuple):
    """What happened to a tensor from ``begin`` to ``end``, in seconds since the timeline began.

    phase: NEGOTIATE_ALLREDUCE, ALLREDUCE (both of depth 0); within ALLREDUCE, at depth 1, MEMCPY_IN_FUSION_BUFFER,
    GLOO_ALLREDUCE and so on. nbytes: of the tensor on this rank, where Horovod wrote its type and shape: at the end of
    ALLREDUCE, ALLGATHER and REDUCESCATTER. ended: False if the timeline stops before; ``end`` is then its last
    moment."""

    tensor: str
    phase: str
    begin: float
    end: float
    depth: int = 0
    nbytes: int | None = None
    ended: bool = True


class Ready(NamedTuple):
    """The coordinator learnt at ``time`` seconds that ``rank`` (its number in the tensor's process set) had the tensor
    ready."""

    tensor: str
    rank: int
    time: float


class Operation(NamedTuple):
    """A collective that was carried out: ALLREDUCE, BROADCAST … with all ``tensors`` that it carried, sorted."""

    kind: str
    tensors: list[str]
    begin: float
    end: float
    nbytes: int


@dataclass(frozen=True)
class Counts:
    """The totals of a timeline. ``operations`` and ``tensors`` are by kind: {"ALLREDUCE": 3}; a tensor counts each time
    that it is carried. ``nbytes``: of the tensors whose size is known. ``cycles`` is None if cycles are not marked."""

    operations: dict[str, int]
    tensors: dict[str, int]
    nbytes: int
    cycles: int | None


def read(path: Path) -> Timeline:
    """The events in a file that Horovod has written. If Horovod was killed while writing, the list has no end, and its
    last event may be incomplete: that one is left out.

    Raises ValueError if the file holds no timeline."""
    text = path.read_text(errors="replace")
    if text.strip() and not text.lstrip().startswith("["):
        raise ValueError(f"{path.name} is no timeline of Horovod's: it does not begin with [.")
    return list(_events(text))


def _events(text: str) -> Iterator[dict[str, Any]]:
    """The events one by one, as long as they are complete."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            event, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            return
        yield event
        at = text.find("{", end)


def names(timeline: Timeline) -> dict[int, str]:
    """The name of the tensor in each row: {1: "allreduce.w"}."""
    named = (e for e in timeline if e.get("name") == "process_name")
    return {e["pid"]: e["args"]["name"] for e in named if "name" in e["args"]}


def spans(timeline: Timeline) -> list[Span]:
    """The spans of all tensors, in order of beginning. Within a row an ``E`` ends what began last."""
    tensor, found = names(timeline), []
    rows: dict[int, list[dict[str, Any]]] = {pid: [] for pid in tensor}
    for event in timeline:
        if event["ph"] == "B":
            rows[event["pid"]].append(event)
        elif event["ph"] == "E" and rows[event["pid"]]:  # a barrier has one E too many
            begun = rows[event["pid"]].pop()
            times = begun["ts"] / 1e6, event["ts"] / 1e6
            found.append(Span(tensor[event["pid"]], begun["name"], *times, len(rows[event["pid"]]), _nbytes(event)))
    last = max((e["ts"] for e in timeline if "ts" in e), default=0) / 1e6
    for pid, open_ones in rows.items():
        found += [Span(tensor[pid], e["name"], e["ts"] / 1e6, last, n, None, False) for n, e in enumerate(open_ones)]
    return sorted(found, key=lambda span: (span.begin, span.depth))


def readiness(timeline: Timeline) -> list[Ready]:
    """Which rank had which tensor ready when, as far as rank 0 recorded it.

    Rank 0 hears from the other ranks once a cycle, so these times are late by up to a cycle, and exact only for rank 0
    itself. From the second time on a tensor is in Horovod's cache: ranks then report by one bit of a shared vector that
    they have it, and it is not recorded which rank did so when."""
    tensor = names(timeline)
    return [Ready(tensor[e["pid"]], int(e["name"]), e["ts"] / 1e6) for e in timeline if e["ph"] == "X"]


def operations(timeline: Timeline) -> list[Operation]:
    """The collectives that were carried out, in order of time. Horovod's background thread carries out one after
    another, so tensors were fused if the spans of their operations overlap."""
    found: list[list[Span]] = []
    end = -math.inf
    for span in spans(timeline):
        if span.depth == 0 and not span.phase.startswith(NEGOTIATE):
            if span.begin >= end:
                found.append([])
            found[-1].append(span)
            end = max(end, span.end)
    return [_operation(together) for together in found]


def fused_tensors(timeline: Timeline) -> list[list[str]]:
    """For each all-reduce that was carried out, in order of time, the sorted names of the tensors that it carried."""
    return [operation.tensors for operation in operations(timeline) if operation.kind == "ALLREDUCE"]


def cycles(timeline: Timeline) -> list[float]:
    """When each cycle of the background thread began, in seconds; empty without HOROVOD_TIMELINE_MARK_CYCLES."""
    return [e["ts"] / 1e6 for e in timeline if e["ph"] == "i" and e["name"] == "CYCLE_START"]


def counts(timeline: Timeline) -> Counts:
    """The numbers of operations, tensors, bytes and cycles."""
    done, began = operations(timeline), cycles(timeline)
    return Counts(
        operations=dict(Counter(o.kind for o in done)),
        tensors=dict(Counter(o.kind for o in done for _ in o.tensors)),
        nbytes=sum(o.nbytes for o in done),
        cycles=len(began) or None,
    )


def _operation(together: list[Span]) -> Operation:
    first, last = together[0].begin, max(span.end for span in together)
    nbytes = sum(span.nbytes or 0 for span in together)
    return Operation(together[0].phase, sorted(span.tensor for span in together), first, last, nbytes)


def _nbytes(event: dict[str, Any]) -> int | None:
    """The bytes of the tensor whose type and shape Horovod wrote at this end: {"dtype": "float32", "shape": "[2,
    3]"}."""
    described = event.get("args", {})
    if described.get("dtype") not in BYTES:
        return None
    shape: list[int] = json.loads(described["shape"])
    return BYTES[described["dtype"]] * math.prod(shape)
