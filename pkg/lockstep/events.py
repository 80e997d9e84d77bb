"""What every world records: an Event for each operation of a rank, a Trace of all of them, an Outcome of the run.

The vocabulary is that of torch.distributed (``send``, ``recv``, ``all_reduce`` ...) plus ``compute``. A trace from the
virtual cluster, from processes of this machine and from GPU nodes differ in their times only: kinds, peers, groups and
bytes are the same, so that a check can judge any of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

POINT_TO_POINT = ("send", "recv")
COLLECTIVES = (
    "broadcast", "reduce", "all_reduce", "scatter", "gather", "all_gather", "reduce_scatter", "all_to_all", "barrier",
)  # fmt: skip


class Count(NamedTuple):
    """How often something was done, and with how many bytes in all."""

    number: int
    nbytes: int


class Event(NamedTuple):
    """One operation of one rank. (A named tuple: a trace may have a million of them.)

    Three times, in seconds since the run began (virtual seconds on the virtual cluster): ``posted`` is when the rank
    asked for it. ``start`` is when it began: a message when both of its ends were posted and their ports were free. On
    real processes nobody can see that, and ``start`` is ``posted``. ``end`` is when the rank could rely on the result:
    for ``isend``, ``irecv`` and ``async_op=True`` that may be long after it went on to other work. What a failed run
    never began has ``start`` and ``end`` where the run ended.

    ``nbytes`` is the payload as this rank holds it: the tensor of a send, recv, broadcast, reduce or all_reduce; for
    the others the larger of what goes in and what comes out (so K·n for an all_gather of n bytes from each of K ranks,
    on every rank).
    """

    rank: int
    kind: str  # "compute", or one of POINT_TO_POINT or COLLECTIVES
    start: float
    end: float
    nbytes: int = 0
    peer: int | None = None  # global rank: a send's destination, a recv's source, a collective's root
    group: tuple[int, ...] = ()  # global ranks of the process group
    tag: int = 0
    name: str = ""  # for compute: the torch operation
    where: str = ""  # the learner's line, as in "Cell In[6], line 4"
    message: int | None = None  # joins a send with its recv, and the ranks of one collective
    wait: float = 0.0  # seconds in which this rank stood still for this operation
    flops: int = 0
    awaited: bool = True  # False: what isend, irecv or async_op returned was never waited for (or not from Python)
    changed: bool = False  # True: the rank changed what it sends before it had waited; seen on the virtual cluster only
    posting: float | None = None  # when the rank asked for it, if that was before ``start``
    backend: str = ""  # what carried it: "gloo", "nccl"; "virtual" on the virtual cluster
    # FLOPs of matrix products between posting it and waiting for it: by the order of the program, whatever
    # the time. None where nobody knows, as on the virtual cluster, which has events of kind "compute" instead.
    meanwhile: int | None = None

    @property
    def posted(self) -> float:
        """When the rank asked for it."""
        return self.start if self.posting is None else self.posting

    @property
    def duration(self) -> float:
        """Seconds from ``start`` to ``end``: of a message or a collective on the virtual cluster, those on the way."""
        return self.end - self.start


class Unequal(NamedTuple):
    """How a rank, or the link of two ranks, differs from the others of its cluster (``machines.Cluster``)."""

    ranks: tuple[int, ...]  # one rank, or the two ends of a link; () are all
    what: str  # "speed": 1 is that of the others; "memory": bytes; "bandwidth": bytes/s; "latency": s
    value: float  # "compute jitter", "message jitter": coefficients of variation

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Unequal:
        ranks, what, value = data
        return cls(tuple(ranks), what, value)


_begin = attrgetter("posted", "rank")


@dataclass(frozen=True)
class Trace:
    """The events of a run, in the order in which they were posted; at one time, by rank."""

    events: tuple[Event, ...] = ()
    ranks: int = 0
    world: str = ""  # "virtual", "processes", "spmd"
    cluster: str = ""  # the machine that was simulated, or the one that it ran on
    unequal: tuple[Unequal, ...] = ()  # where its ranks and links differed

    @classmethod
    def of(
        cls, events: Iterable[Event], ranks: int, world: str = "", cluster: str = "", unequal: Sequence[Unequal] = ()
    ) -> Trace:
        return cls(tuple(sorted(events, key=_begin)), ranks, world, cluster, tuple(unequal))

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def of_rank(self, rank: int) -> tuple[Event, ...]:
        return tuple(e for e in self.events if e.rank == rank)

    def of_kind(self, *kinds: str) -> tuple[Event, ...]:
        return tuple(e for e in self.events if e.kind in kinds)

    @property
    def communication(self) -> tuple[Event, ...]:
        return tuple(e for e in self.events if e.kind != "compute")

    @property
    def time(self) -> float:
        """Seconds until the last rank was done."""
        return max((e.end for e in self.events), default=0.0)

    def counts(self) -> dict[tuple[int, str], Count]:
        """``{(rank, kind): Count(number, nbytes)}`` of all communication: equal in all three worlds."""
        number: Counter[tuple[int, str]] = Counter()
        nbytes: Counter[tuple[int, str]] = Counter()
        for e in self.communication:
            number[e.rank, e.kind] += 1
            nbytes[e.rank, e.kind] += e.nbytes
        return {key: Count(number[key], nbytes[key]) for key in sorted(number)}

    def sent(self, rank: int | None = None) -> Count:
        """Messages and bytes that ``rank`` (or all ranks together) passed to send."""
        return self._total("send", rank)

    def received(self, rank: int | None = None) -> Count:
        """Messages and bytes that ``rank`` (or all ranks together) took in by recv."""
        return self._total("recv", rank)

    def _total(self, kind: str, rank: int | None) -> Count:
        chosen = [e for e in self.events if e.kind == kind and rank in (None, e.rank)]
        return Count(len(chosen), sum(e.nbytes for e in chosen))

    def __reduce__(self) -> tuple[Any, ...]:
        """Events travel to another process as columns: in a third of the time that they take one by one."""
        columns = list(zip(*self.events, strict=True))
        return _from_columns, (columns, self.ranks, self.world, self.cluster, self.unequal)

    def to_json(self) -> dict[str, Any]:
        """Plain data; ``from_json`` reads it back."""
        head = {"ranks": self.ranks, "world": self.world, "cluster": self.cluster}
        return head | {"unequal": self.unequal, "events": [e._asdict() for e in self.events]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trace:
        events = [Event(**{**e, "group": tuple(e["group"])}) for e in data["events"]]
        unequal = [Unequal.from_json(u) for u in data.get("unequal", ())]
        return cls.of(events, data["ranks"], data["world"], data["cluster"], unequal)

    def to_chrome(self) -> str:
        """The trace as Chrome trace JSON, for https://ui.perfetto.dev: one lane per rank, arrows for messages."""
        rows: list[dict[str, Any]] = [
            {"ph": "M", "name": "thread_name", "pid": 0, "tid": r, "args": {"name": f"rank {r}"}}
            for r in range(self.ranks)
        ]
        for e in self.events:
            args = {k: v for k, v in e._asdict().items() if v not in (None, "", ()) and k not in ("start", "end")}
            row = {"ph": "X", "name": e.name or e.kind, "cat": e.kind, "pid": 0, "tid": e.rank, "args": args}
            rows.append(row | {"ts": e.posted * 1e6, "dur": (e.end - e.posted) * 1e6})
            if e.message is not None and e.kind in POINT_TO_POINT:
                begins = e.kind == "send"
                arrow = {"ph": "s" if begins else "f", "name": "message", "cat": "message", "id": e.message}
                rows.append(arrow | {"pid": 0, "tid": e.rank, "ts": (e.start if begins else e.end) * 1e6, "bp": "e"})
        return json.dumps({"traceEvents": rows, "displayTimeUnit": "ns"})


def _from_columns(columns: list[tuple[Any, ...]], *rest: Any) -> Trace:
    return Trace(tuple(map(Event._make, zip(*columns, strict=True))), *rest)


MEMORY_KINDS = ("parameters", "gradients", "optimizer state", "activations", "buffers")


@dataclass(frozen=True)
class Memory:
    """What a rank held of tensor storage, in bytes. What counts as which kind: ``lockstep.residency.book``."""

    peak: int = 0  # the most that was alive at once
    at_peak: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(MEMORY_KINDS, 0))  # adds up to ``peak``
    peaks: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(MEMORY_KINDS, 0))  # each kind by itself
    samples: tuple[tuple[float, tuple[int, ...]], ...] = field(default=(), repr=False)
    # (seconds since the run began, bytes by kind in the order of MEMORY_KINDS): a few hundred, with each time's highest
    # and lowest


@dataclass(frozen=True)
class Outcome:
    """What a run gives back, in whichever world: all lists are by rank."""

    values: Sequence[Any]
    trace: Trace
    time: float  # seconds until the last rank was done; virtual seconds on the virtual cluster
    peak_memory: Sequence[int]  # bytes of tensor storage alive at once
    printed: str = ""
    warnings: tuple[str, ...] = field(default=())
    memory: Sequence[Memory] = ()  # the same by kind: parameters, gradients, optimizer state, activations, buffers
