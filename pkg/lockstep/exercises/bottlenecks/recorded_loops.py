"""Training loops of one host and one GPU in virtual time, for a test to tell which of them starve."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom

from lockstep.bottlenecks.streams import Mark, Streams

Span = tuple[str, int, str, float, float]
MOST = 1000  # steps of all runs of a loop

# What a step takes, in milliseconds: to load a batch; to copy and to compute it; Python on the host; every so many
# steps the loss is read. ``late``: the steps whose batch takes ``late_load``. ``ahead``: batches that are loaded
# before they are asked for; ``workers`` load them. ``depth``: steps that the host may be ahead of the GPU.
PLAIN = {
    "load": 2.0, "copy": 1.0, "compute": 8.0, "python": 1.0, "item": 0, "ahead": 4, "workers": 1, "depth": 3,
    "first": 0, "every": 0, "late_load": 0.0, "until": 0, "waits_for_copies": 0,
}  # fmt: skip
LOOPS: dict[str, dict[str, float]] = {
    "no workers": {"ahead": 0, "workers": 0, "load": 6.0, "item": 1},
    "one worker": {"load": 14.0},
    "from some step on": {"first": 250, "every": 1, "late_load": 12.0},
    "now and then": {"first": 20, "every": 40, "late_load": 120.0, "ahead": 2},
    "a little": {"load": 10.2},
    "also idle": {"load": 16.0, "item": 1, "python": 4.0},
    "prefetch": {},
    "behind kernels": {"ahead": 0, "workers": 0, "load": 4.5, "python": 0.5, "depth": 6},
    "reads the loss": {"item": 1, "python": 6.0},
    "slow copies": {"copy": 6.0, "waits_for_copies": 1, "item": 1},
    "first batches": {"first": 0, "every": 1, "late_load": 90.0, "until": 6},
    "both apart": {"ahead": 0, "workers": 0, "load": 4.0, "python": 6.0, "copy": 0.05, "depth": 1},
    "rarely": {"first": 20, "every": 100, "late_load": 44.0, "ahead": 1},
}  # fmt: skip


def loop(name: str) -> Callable[[int], list[Span]]:
    """``fn(steps)``: the spans of a run, in microseconds. No two runs take exactly as long."""
    of, left = PLAIN | LOOPS[name], MOST

    def fn(steps: int) -> list[Span]:
        nonlocal left
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ValueError(f"fn({steps!r}): give a number of steps, 1 or more")
        if steps > left:
            raise ValueError(f"fn({steps}): all runs of a loop together may have {MOST} steps, and {left} are left")
        left -= steps
        spans = recorded(of, steps)
        SystemRandom().shuffle(spans)
        return spans

    return fn


def recorded(of: dict[str, float], steps: int) -> list[Span]:
    """A run. A loader with workers loads as far ahead as it may; one without loads when it is asked."""
    dice, gpu, spans = SystemRandom(), Streams(launch_seconds=2e-5), list[Span]()
    ready, free, asked, done = list[float](), [0.0] * int(of["workers"]), list[float](), list[Mark]()

    def took(ms: float) -> float:
        return ms * 1e-3 * dice.uniform(0.97, 1.03)

    def note(step: int, name: str, since: float) -> None:
        spans.append(("host", step, name, since * 1e6, gpu.now * 1e6))

    def load(step: int) -> float:
        late = of["every"] and step >= of["first"] and (step - of["first"]) % of["every"] == 0
        return took(of["late_load"] if late and not 0 < of["until"] <= step else of["load"])

    for step in range(steps):
        began = gpu.now
        asked.append(began)
        if free:
            while len(ready) <= step + of["ahead"]:
                number = len(ready)
                may = asked[number - int(of["ahead"])] if number >= of["ahead"] else 0.0
                worker = min(range(len(free)), key=free.__getitem__)
                free[worker] = max(free[worker], may) + load(number)
                ready.append(free[worker])
            gpu.wait(Mark(ready[step]))
        else:
            gpu.host("load", load(step))
        note(step, "next(loader)", began)
        began = gpu.now
        gpu.host("python", took(of["python"]))
        note(step, "python", began)
        began = gpu.now
        copied = gpu.launch("copy", "copy", took(of["copy"]))
        spans.append(("copy", step, "copy", 1e6 * gpu.spans[-1].begin, 1e6 * gpu.spans[-1].end))
        if of["waits_for_copies"]:
            gpu.wait(copied)
        note(step, "copy", began)
        began = gpu.now
        for _ in range(2):
            done.append(gpu.launch("compute", "kernel", took(of["compute"] / 2), [copied]))
            spans.append(("compute", step, "kernel", 1e6 * gpu.spans[-1].begin, 1e6 * gpu.spans[-1].end))
        note(step, "launch", began)
        began = gpu.now
        if of["item"] and (step + 1) % of["item"] == 0:
            gpu.wait(done[-1])
            note(step, ".item()", began)
        elif step >= of["depth"]:
            gpu.wait(done[2 * (step - int(of["depth"])) + 1])
            note(step, "launch", began)
    return spans
