"""Whether a loader starves its GPU: the GPU computes nothing *while* the host waits for a batch.

    host       │ next(loader) │ launch │ next(loader)           │ launch │
    compute    │ kernel 0 │            │ kernel 1 │                      │ kernel 2
                          ^^^^ starved             ^^^^^^^^^^^^^^ starved

The host's waiting alone says little: a host runs ahead of its GPU, and may wait while kernels run. An idle GPU alone
says little, too: it may wait for Python, for ``.item()``, or for a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.intervals import length, merged

LOADER, COMPUTE, HOST = "next(loader)", "compute", "host"
STEPS, WARM_UP, LEAST = 400, 10, 0.05

Recorded = Sequence[tuple[str, int, str, float, float]]  # lane, step, name, begin, end


def starved_share(spans: Recorded, warm_up: int = WARM_UP) -> float:
    """The share of the time in which no kernel runs while the host is in ``next(loader)``. The time begins with step
    ``warm_up`` on the host."""
    begins = min(begin for lane, step, _, begin, _ in spans if lane == HOST and step == warm_up)
    waits = [(max(begin, begins), end) for *_, name, begin, end in spans if name == LOADER and end > begins]
    kernels = [(max(begin, begins), end) for lane, *_, begin, end in spans if lane == COMPUTE and end > begins]
    either = length(merged([*waits, *kernels])) - length(merged(kernels))
    return either / (max(end for *_, end in spans) - begins)


def is_starved(fn: Callable[[int], Recorded]) -> bool:
    """Whether the loop that ``fn(steps)`` records loses 5 % of its time or more to its loader, in a long run."""
    return starved_share(fn(STEPS)) >= LEAST
