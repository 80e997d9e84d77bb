"""Virtual streams of a GPU: a host that launches, a stream that computes, one that copies; all in virtual time.

    host      launch │ launch │ launch │ …       goes on at once, except for what waits: synchronize, a pageable copy
    compute           │ kernel │ kernel │        one after another, in the order of launches
    copy      │ copy │ copy │                    beside the kernels, if it is a stream of its own

What is put into a stream begins when the host has launched it, the stream has done what was put in before, and all the
marks are reached that it is told to wait for. That is the whole model (CUDA C++ Programming Guide, "Asynchronous
concurrent execution"): no kernel runs beside another one, and copies don't slow them down. Nothing here is measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lockstep.errors import UsageError
from lockstep.intervals import length, merged

HOST = "host"


class Span(NamedTuple):
    """Something under way on a lane, in virtual seconds. ``kind``: "work", or "wait" where the host is blocked."""

    lane: str
    name: str
    begin: float
    end: float
    kind: str = "work"


class Mark(NamedTuple):
    """The moment at which a stream has done what was put in: torch.cuda.Event."""

    at: float


@dataclass
class Streams:
    """A host and its streams. ``launch_seconds``: what a launch takes the host."""

    launch_seconds: float = 5e-6
    now: float = 0.0  # of the host
    spans: list[Span] = field(default_factory=list)
    _free: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # by stream: when it is done

    def host(self, name: str, seconds: float) -> None:
        """The host works itself, as when it decodes an image."""
        _not_negative(seconds)
        if seconds:
            self._on_host(name, seconds)

    def launch(self, stream: str, name: str, seconds: float, after: Sequence[Mark] = ()) -> Mark:
        """Put work into ``stream``; the host goes on. ``after``: marks that it waits for (``wait_event``)."""
        _not_negative(seconds)
        if stream == HOST:
            raise UsageError("The host is no stream.", "host(name, seconds) is what it does itself.")
        self._on_host(f"launch {name}", self.launch_seconds)
        begin = max(self.now, self._free[stream], *(mark.at for mark in after), 0.0)
        self._free[stream] = begin + seconds
        self.spans.append(Span(stream, name, begin, begin + seconds))
        return Mark(begin + seconds)

    def blocking(self, stream: str, name: str, seconds: float) -> Mark:
        """Put work into ``stream``, and wait for it: a copy from pageable memory."""
        mark = self.launch(stream, name, seconds)
        self.wait(mark, name)
        return mark

    def synchronize(self) -> None:
        """The host waits for all streams: ``torch.cuda.synchronize``, and ``.item()`` for its own stream."""
        self.wait(Mark(max(self._free.values(), default=0.0)), "synchronize")

    def wait(self, mark: Mark, name: str = "wait") -> None:
        """The host waits for a mark: ``event.synchronize()``."""
        if mark.at > self.now:
            self.spans.append(Span(HOST, name, self.now, mark.at, "wait"))
            self.now = mark.at

    @property
    def time(self) -> float:
        """Seconds until host and streams are done."""
        return max(self.now, *self._free.values(), 0.0)

    def busy(self, lane: str) -> float:
        """Seconds in which something was under way on ``lane``; where the host is blocked is not."""
        return length(merged((s.begin, s.end) for s in self.spans if s.lane == lane and s.kind == "work"))

    def idle(self, lane: str = "compute") -> float:
        """The share of the time in which ``lane`` did nothing."""
        return 1 - self.busy(lane) / self.time if self.time else 0.0

    def computing(self) -> float:
        """Seconds in which a kernel ran: what was in the compute stream, without copies."""
        own = (s for s in self.spans if s.lane == "compute" and not s.name.startswith("copy"))
        return length(merged((s.begin, s.end) for s in own))

    def waited(self) -> float:
        """Seconds in which the host was blocked."""
        return length(merged((s.begin, s.end) for s in self.spans if s.kind == "wait"))

    def _on_host(self, name: str, seconds: float) -> None:
        self.spans.append(Span(HOST, name, self.now, self.now + seconds))
        self.now += seconds


def _not_negative(seconds: float) -> None:
    if not seconds >= 0:
        raise UsageError(f"Nothing takes {seconds} seconds.", "Give 0 or more.")


# ---- a training on them


@dataclass(frozen=True)
class Step:
    """What a training step takes, in seconds; ``nbytes`` of a batch, and bytes/s of the link to the GPU.

    The rates are those of a virtual machine, not of a product: 25 GB/s is what a PCIe 4.0 link of 16 lanes (31.5 GB/s)
    may reach from pinned memory; from pageable memory the driver copies twice, here at half the rate."""

    compute: float = 10e-3
    kernels: int = 10
    nbytes: float = 150e6
    pinned: float = 25e9
    pageable: float = 12.5e9
    host: float = 0.0  # what Python does before it launches a step
    preprocess_on_host: float = 0.0
    preprocess_on_gpu: float = 0.0


def train(step: Step, steps: int = 5, pinned: bool = False, overlapped: bool = False, item_every: int = 0) -> Streams:
    """A training of ``steps`` steps in virtual time: each batch is copied to the GPU and computed.

    pinned       the host does not wait for the copy
    overlapped   copies have a stream of their own, and the next batch's copy is launched before this one's kernels;
                 with pinned memory they run ahead as far as they can: the GPU's memory is not counted
    item_every   the host reads the loss every so many steps, and waits for it; 0 for never
    """
    gpu = Streams()
    arrived = copy(gpu, step, 0, pinned, overlapped) if overlapped else None
    for number in range(steps):
        gpu.host(f"Python {number}", step.host)
        mark = arrived if overlapped else copy(gpu, step, number, pinned, overlapped)
        if overlapped and number + 1 < steps:
            arrived = copy(gpu, step, number + 1, pinned, overlapped)
        assert mark is not None
        compute(gpu, step, number, mark)
        if item_every and (number + 1) % item_every == 0:
            gpu.synchronize()
    gpu.synchronize()
    return gpu


def copy(gpu: Streams, step: Step, number: int, pinned: bool, overlapped: bool) -> Mark:
    if step.preprocess_on_host:
        gpu.host(f"preprocess {number}", step.preprocess_on_host)
    stream, name = "copy" if overlapped else "compute", f"copy {number}"
    if pinned:
        return gpu.launch(stream, name, step.nbytes / step.pinned)
    return gpu.blocking(stream, name, step.nbytes / step.pageable)


def compute(gpu: Streams, step: Step, number: int, arrived: Mark) -> None:
    if step.preprocess_on_gpu:
        gpu.launch("compute", f"preprocess {number}", step.preprocess_on_gpu, [arrived])
    for _ in range(step.kernels):
        gpu.launch("compute", f"step {number}", step.compute / step.kernels, [arrived])
