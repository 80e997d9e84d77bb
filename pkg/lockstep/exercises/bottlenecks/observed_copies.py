"""Copies and steps on a virtual GPU with a few buffers: when each of them runs, and what a step finds in its buffer.
Facts, no sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from lockstep.bottlenecks.streams import Mark, Streams

Evidence = dict[str, Any]
LAUNCH, SLACK = 1e-8, 1.01  # seconds of a launch; of the best time
TRIED = {  # batches, buffers, and the longest and shortest ms of a copy and of a step
    "steps that take longer than copies": [(8, 2, (2, 2), (5, 5))],
    "copies that take longer than steps": [(8, 2, (5, 5), (2, 2))],
    "copies and steps of different lengths": [
        (12, 2, (1, 9), (1, 9)),
        (12, 2, (1, 20), (4, 6)),
        (12, 2, (4, 6), (1, 20)),
    ],
    "three buffers": [(9, 3, (1, 9), (1, 9)), (9, 3, (2, 2), (5, 5)), (9, 3, (5, 5), (2, 2))],
    "one buffer": [(5, 1, (2, 4), (3, 6))],
    "more buffers than batches": [(3, 8, (1, 9), (1, 9))],
    "one batch, and none": [(1, 2, (3, 3), (5, 5)), (0, 2, (3, 3), (5, 5)), (1, 1, (3, 3), (5, 5))],
}


class Gpu:
    """What learners get. ``rows``: what was launched, in its order, with the times at which it ran."""

    def __init__(self, copies: Sequence[float], steps: Sequence[float], buffers: int) -> None:
        self.copies, self.steps, self.buffers = copies, steps, buffers
        self.rows: list[tuple[str, int, int, float, float]] = []
        self._streams = Streams(launch_seconds=LAUNCH)

    def copy(self, batch: int, buffer: int, after: Sequence[Mark] = ()) -> Mark:
        return self._launched("copy", self.copies, batch, buffer, after)

    def compute(self, batch: int, buffer: int, after: Sequence[Mark] = ()) -> Mark:
        return self._launched("compute", self.steps, batch, buffer, after)

    def wait(self, event: Mark) -> None:
        self._streams.wait(self._event(event))

    def synchronize(self) -> None:
        self._streams.synchronize()

    def time(self) -> float:
        return self._streams.time

    def _launched(self, stream: str, takes: Sequence[float], batch: int, buffer: int, after: Any) -> Mark:
        if not isinstance(batch, int) or not 0 <= batch < len(takes):
            raise ValueError(f"there is no batch {batch!r}: there are {len(takes)}, counted from 0")
        if not isinstance(buffer, int) or not 0 <= buffer < self.buffers:
            raise ValueError(f"there is no buffer {buffer!r}: there are {self.buffers}, counted from 0")
        if not isinstance(after, (list, tuple, set)):
            raise TypeError(f"after={after!r} is no list of events")
        mark = self._streams.launch(stream, stream, takes[batch], [self._event(event) for event in after])
        self.rows.append((stream, batch, buffer, self._streams.spans[-1].begin, mark.at))
        return mark

    @staticmethod
    def _event(event: Any) -> Mark:
        if not isinstance(event, Mark):
            raise TypeError(f"{event!r} is no event: copy and compute return one")
        return event


def gpu_of(batches: int, buffers: int, copies: tuple[int, int], steps: tuple[int, int], seed: int) -> Gpu:
    dice = Random(seed)
    of_copies, of_steps = ([dice.uniform(*of) / 1e3 for _ in range(batches)] for of in (copies, steps))
    return Gpu(of_copies, of_steps, buffers)


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    batches, buffers, copies, steps, seed = arguments
    gpu = gpu_of(batches, buffers, copies, steps, seed)
    fn(gpu, batches, buffers)
    return {"rows": [list(row) for row in gpu.rows], "time": gpu.time()}


def best(gpu: Gpu) -> float:
    """Seconds of the best way: each copy waits for the step that reads its buffer, each step for its copy."""
    copied, computed = list[float](), list[float]()
    for n, (copy, step) in enumerate(zip(gpu.copies, gpu.steps, strict=True)):
        free = computed[n - gpu.buffers] if n >= gpu.buffers else 0.0
        copied.append(max(free, copied[-1] if copied else 0.0) + copy)
        computed.append(max(copied[-1], computed[-1] if computed else 0.0) + step)
    return max(computed, default=0.0)


def facts(batches: int, buffers: int, copies: Any, steps: Any, seed: int, answer: Any) -> Evidence:
    gpu = gpu_of(batches, buffers, copies, steps, seed)
    rows = [tuple(row) for row in answer["rows"]]
    order = {kind: [batch for one, batch, *_ in rows if one == kind] for kind in ("copy", "compute")}
    wrong = next((kind for kind, own in order.items() if own != list(range(batches))), "")
    least, alone = best(gpu), sum(gpu.copies) + sum(gpu.steps)
    return {
        "batches": batches, "wrong": wrong, "order": order.get(wrong), "buffers": buffers,
        "took": 1e3 * answer["time"], "best": 1e3 * least, "one": 1e3 * alone,
        "slow": answer["time"] > SLACK * least + 1e-6, "alone": answer["time"] > 0.999 * alone, **races(rows),
    }  # fmt: skip


def races(rows: Sequence[tuple[str, int, int, float, float]]) -> Evidence:
    """The first step that finds another batch in its buffer or begins before its copy is done; the first copy into a
    buffer that a step, launched before, still has to read."""
    found: Evidence = {"elsewhere": None, "held": None, "early": None, "over": None, "reader": None, "place": None}
    content: dict[int, tuple[int, float]] = {}  # by buffer: the batch that was copied into it, and when it is there
    readers: dict[int, list[tuple[int, float]]] = {}  # by buffer: steps that were launched, and when they are done
    for kind, batch, buffer, begin, end in rows:
        if kind == "copy":
            late = [step for step, done in readers.get(buffer, []) if begin < done]
            if late and found["over"] is None:
                found |= {"over": batch, "reader": late[0], "place": buffer}
            content[buffer] = batch, end
            continue
        held, there = content.get(buffer, (None, 0.0))
        if held != batch and found["elsewhere"] is None:
            found |= {"elsewhere": batch, "held": "nothing" if held is None else f"batch {held}", "place": buffer}
        elif begin < there and found["early"] is None:
            found["early"] = batch
        readers.setdefault(buffer, []).append((batch, end))
    return found
