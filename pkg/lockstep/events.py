"""The record of a run: an Event for each operation of a rank, the Trace of all events, and the Outcome.

The kinds of operations are those of torch.distributed (``send``, ``recv``, ``all_reduce`` ...) and ``compute``. Traces
of the same program from the virtual cluster, from processes and from GPU nodes differ in their times only: kinds,
peers, groups and bytes are equal, so that an exercise can be graded in any world.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

POINT_TO_POINT = ("send", "recv")
COLLECTIVES = (
    "broadcast", "reduce", "all_reduce", "scatter", "gather", "all_gather", "reduce_scatter", "all_to_all", "barrier",
)  # fmt: skip


class Count(NamedTuple):
    """A number of operations, and their bytes in total."""

    number: int
    nbytes: int


class Event(NamedTuple):
    """One operation of one rank. (A named tuple, since a trace may have a million of them.)

    Times are in seconds since the run began, virtual seconds on the virtual cluster::

        posted   the rank called the operation
        start    the operation began: for a message, both ends were posted and their ports were free. On real processes
                 this cannot be observed, and ``start`` is ``posted``
        end      the rank could use the result. For ``isend``, ``irecv`` and ``async_op=True`` this may be long after
                 the rank went on to other work

    An operation that had not begun when a run failed has ``start`` and ``end`` at the end of the run.

    ``nbytes`` is the payload on this rank: the tensor of a send, recv, broadcast, reduce or all_reduce; for all other
    collectives the larger of input and output (so K·n, on every rank, for an all_gather of n bytes from each of K
    ranks).
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
    message: int | None = None  # the same number for a send and its recv, and for all parts of a collective
    wait: float = 0.0  # seconds for which this rank was blocked by this operation
    flops: int = 0
    awaited: bool = True  # False: the Work of isend, irecv or async_op was never waited for (or not from Python)
    # Before the operation was waited for (virtual cluster only):
    changed: bool = False  # a tensor that it sends was modified
    early: str = ""  # the line that used one of its tensors: wrote to it, or read what was to arrive
    posting: float | None = None  # when the rank called it, if that was before ``start``
    backend: str = ""  # "gloo", "nccl"; "virtual" on the virtual cluster
    # FLOPs of matrix products between posting it and waiting for it, in program order, whatever the times. None where
    # unknown, as on the virtual cluster, which has events of kind "compute" instead.
    meanwhile: int | None = None

    @property
    def posted(self) -> float:
        """When the rank called it, in seconds."""
        return self.start if self.posting is None else self.posting

    @property
    def duration(self) -> float:
        """Seconds from ``start`` to ``end``: on the virtual cluster, the transfer time of a message or collective."""
        return self.end - self.start


class Unequal(NamedTuple):
    """A rank or a link between two ranks that differs from the others of its cluster (``machines.Cluster``)."""

    ranks: tuple[int, ...]  # one rank, or the two ends of a link; () for all
    what: str  # "speed": relative to the others; "memory": bytes; "bandwidth": bytes/s; "latency": s
    value: float  # "compute jitter", "message jitter": coefficients of variation

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Unequal:
        ranks, what, value = data
        return cls(tuple(ranks), what, value)


_begin = attrgetter("posted", "rank")


@dataclass(frozen=True)
class Trace:
    """The events of a run, sorted by the time at which they were posted, then by rank."""

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
        """The makespan: seconds until the last event ended."""
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
        """Messages and bytes that ``rank`` (or all ranks together) sent point to point."""
        return self._total("send", rank)

    def received(self, rank: int | None = None) -> Count:
        """Messages and bytes that ``rank`` (or all ranks together) received point to point."""
        return self._total("recv", rank)

    def _total(self, kind: str, rank: int | None) -> Count:
        chosen = [e for e in self.events if e.kind == kind and rank in (None, e.rank)]
        return Count(len(chosen), sum(e.nbytes for e in chosen))

    def __reduce__(self) -> tuple[Any, ...]:
        """Events are pickled as columns, which takes a third of the time of one by one."""
        columns = list(zip(*self.events, strict=True))
        return _from_columns, (columns, self.ranks, self.world, self.cluster, self.unequal)

    def to_json(self) -> dict[str, Any]:
        """A dict of plain data, the inverse of ``from_json``."""
        head = {"ranks": self.ranks, "world": self.world, "cluster": self.cluster}
        return head | {"unequal": self.unequal, "events": [e._asdict() for e in self.events]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trace:
        events = [Event(**{**e, "group": tuple(e["group"])}) for e in data["events"]]
        unequal = [Unequal.from_json(u) for u in data.get("unequal", ())]
        return cls.of(events, data["ranks"], data["world"], data["cluster"], unequal)

    def to_chrome(self) -> str:
        """The trace as Chrome trace JSON, for https://ui.perfetto.dev: one lane per rank, arrows for messages.

        Its ``args`` hold all fields of an event that are not their default, so that `lockstep show` gets the whole
        trace back (``lockstep.chrome_traces``)."""
        rows: list[dict[str, Any]] = [
            {"ph": "M", "name": "thread_name", "pid": 0, "tid": r, "args": {"name": f"rank {r}"}}
            for r in range(self.ranks)
        ]
        defaults = Event._field_defaults
        for e in self.events:
            args = {k: v for k, v in e._asdict().items() if k not in defaults or v != defaults[k]}
            row = {"ph": "X", "name": e.name or e.kind, "cat": e.kind, "pid": 0, "tid": e.rank, "args": args}
            rows.append(row | {"ts": e.posted * 1e6, "dur": (e.end - e.posted) * 1e6})
            if e.message is not None and e.kind in POINT_TO_POINT:
                begins = e.kind == "send"
                arrow = {"ph": "s" if begins else "f", "name": "message", "cat": "message", "id": e.message}
                rows.append(arrow | {"pid": 0, "tid": e.rank, "ts": (e.start if begins else e.end) * 1e6, "bp": "e"})
        about = {"ranks": self.ranks, "world": self.world, "cluster": self.cluster, "unequal": self.unequal}
        return json.dumps({"lockstep": about, "traceEvents": rows, "displayTimeUnit": "ns"})


def _from_columns(columns: list[tuple[Any, ...]], *rest: Any) -> Trace:
    return Trace(tuple(map(Event._make, zip(*columns, strict=True))), *rest)


MEMORY_KINDS = ("parameters", "gradients", "optimizer state", "activations", "buffers")


class Span(NamedTuple):
    """From ``seconds`` on, until the next one begins, a rank is in this pass of training."""

    seconds: float  # since the run began
    phase: str  # "forward", "backward" or "update"
    layer: str = ""  # as in "blocks.3" or "layer 0"; "" where no module says so
    micro_batch: int | None = None  # where a batch is computed in several parts


@dataclass(frozen=True)
class Memory:
    """A rank's tensor storage in bytes, by kind as ``lockstep.residency.live_storages`` defines them."""

    peak: int = 0  # the most bytes alive at once
    at_peak: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(MEMORY_KINDS, 0))  # adds up to ``peak``
    peaks: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(MEMORY_KINDS, 0))  # each kind by itself
    samples: tuple[tuple[float, tuple[int, ...]], ...] = field(default=(), repr=False)
    # (seconds since the run began, bytes by kind in the order of MEMORY_KINDS): a few hundred, with each time's highest
    # and lowest
    spans: tuple[Span, ...] = field(default=(), repr=False, compare=False)
    # what the rank worked on, as modules, autograd and optimizers say it

    @property
    def phases(self) -> tuple[tuple[float, str], ...]:
        """(seconds, "forward", "backward" or "update"): when the rank began with each."""
        return tuple((next(alike).seconds, phase) for phase, alike in groupby(self.spans, attrgetter("phase")))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run, in any world. All lists are by rank."""

    values: Sequence[Any]
    trace: Trace
    time: float  # seconds until the last rank finished; virtual seconds on the virtual cluster
    peak_memory: Sequence[int]  # bytes of tensor storage alive at once
    printed: str = ""
    warnings: tuple[str, ...] = field(default=())
    memory: Sequence[Memory] = ()  # the same by kind: parameters, gradients, optimizer state, activations, buffers
