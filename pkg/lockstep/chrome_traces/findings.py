"""What a recording shows: how long each thread and stream did what, what took longest, what was hidden."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from lockstep.chrome_traces.kinds import COMPUTE, COVERS, OTHER
from lockstep.chrome_traces.spans import Lane, Recording, Span
from lockstep.intervals import Intervals, common, length, merged

MOST = 8  # of what took longest


@dataclass(frozen=True)
class Use:
    """How a thread, a stream or a rank spent the time of the recording. Seconds; what overlaps counts once."""

    lane: Lane
    spans: int
    computing: float
    communicating: float  # on ranks also waiting for others
    idle: float  # nothing was under way


@dataclass(frozen=True)
class Longest:
    """All spans of a name: how many, and how long without what happened within them."""

    name: str
    number: int
    seconds: float


@dataclass(frozen=True)
class Communicated:
    """All operations of a kind. ``hidden``: seconds during which the same rank or GPU also computed."""

    kind: str
    number: int
    seconds: float
    nbytes: int
    hidden: float


@dataclass(frozen=True)
class Findings:
    uses: list[Use]  # of lanes on which something was under way, in the order of the recording
    longest: list[Longest]  # of kernels, if there are any, otherwise of operations
    communication: list[Communicated]  # the longest first


def findings(of: Recording) -> Findings:
    by_lane: dict[int, list[Span]] = defaultdict(list)
    for span in of.spans:
        by_lane[span.lane].append(span)
    uses = [_use(of.lanes[number], spans, of.total) for number, spans in sorted(by_lane.items())]
    return Findings(uses, _longest(of, by_lane), _communication(of))


def communicates(span: Span) -> bool:
    return span.kind not in OTHER


def _use(lane: Lane, spans: list[Span], total: float) -> Use:
    computing = merged((s.begin, s.end) for s in spans if s.kind == COMPUTE)
    communicating = merged((s.begin, s.end) for s in spans if communicates(s))
    busy = merged((s.begin, s.end) for s in spans if s.kind not in COVERS)
    return Use(lane, len(spans), length(computing), length(communicating), max(0.0, total - length(busy)))


def _longest(of: Recording, by_lane: dict[int, list[Span]]) -> list[Longest]:
    """By name. Of a trace with streams only what ran there: the CPU just waits for it."""
    on_streams = any(of.lanes[number].is_stream for number in by_lane)
    number: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for lane, spans in by_lane.items():
        if on_streams and not of.lanes[lane].is_stream:
            continue
        for span, own in alone(spans):
            if span.kind not in COVERS and not communicates(span):
                number[span.name] += 1
                seconds[span.name] += own
    order = sorted(seconds, key=lambda name: (-seconds[name], name))[:MOST]
    return [Longest(name, number[name], seconds[name]) for name in order]


def alone(spans: list[Span]) -> list[tuple[Span, float]]:
    """Each span of a lane with its seconds in which none within it was under way. ``spans``: in order of beginning."""
    own = [s.end - s.begin for s in spans]
    under_way: list[int] = []
    for i, span in enumerate(spans):
        while under_way and spans[under_way[-1]].end <= span.begin:
            under_way.pop()
        if under_way:
            outer = under_way[-1]
            own[outer] -= min(span.end, spans[outer].end) - span.begin
        under_way.append(i)
    return list(zip(spans, own, strict=True))


def _communication(of: Recording) -> list[Communicated]:
    computed: dict[str, list[tuple[float, float]]] = defaultdict(list)
    found: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in of.spans:
        device = of.lanes[span.lane].device
        if span.kind == COMPUTE:
            computed[device].append((span.begin, span.end))
        elif communicates(span):
            found[span.kind][device].append(span)
    hides = {device: merged(spans) for device, spans in computed.items()}
    told = [_of_kind(kind, by_device, hides) for kind, by_device in found.items()]
    return sorted(told, key=lambda one: -one.seconds)


def _of_kind(kind: str, by_device: dict[str, list[Span]], hides: dict[str, Intervals]) -> Communicated:
    spans = [span for of_device in by_device.values() for span in of_device]
    under_way = {device: merged((s.begin, s.end) for s in of_device) for device, of_device in by_device.items()}
    seconds = sum(map(length, under_way.values()))
    hidden = sum(common(lasting, hides.get(device, [])) for device, lasting in under_way.items())
    return Communicated(kind, len(spans), seconds, sum(s.nbytes for s in spans), hidden)
