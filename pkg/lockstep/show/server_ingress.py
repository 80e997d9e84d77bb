"""server_ingress(): how long a step takes as workers become more, with parameter servers and with all-reduces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from lockstep.errors import UsageError
from lockstep.show.chart import HEIGHT, Chart, by_name, chart, line, logarithmic, points

WIDTH = 430  # pixels


class Step(Protocol):
    """The seconds in which each of ``workers`` does one step; 0 ``servers`` are all-reduces."""

    @property
    def workers(self) -> int: ...

    @property
    def servers(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def formula(self) -> float: ...


def server_ingress(steps: Iterable[Step]) -> Chart:
    """Seconds a step against the number of workers: points from runs, lines from the formula, a colour for each number
    of servers. ``steps``: ``ingress.measured()``. Raises UsageError without steps."""
    given = sorted(steps, key=lambda step: step.workers)
    if not given:
        raise UsageError("The chart needs steps.", "Take those of ingress.measured().")
    names = list(dict.fromkeys(_name(step) for step in sorted(given, key=lambda step: step.servers or 10**9)))
    values = [
        {"scheme": _name(s), "workers": s.workers, "ms": 1e3 * s.seconds, "formula": 1e3 * s.formula,
         "told": f"{_name(s)}, {s.workers} workers: {1e3 * s.seconds:.0f} ms, by the formula {1e3 * s.formula:.0f} ms"}
        for s in given
    ]  # fmt: skip
    ticks = sorted({s.workers for s in given})
    x, title = logarithmic("workers", "workers", format="d", values=ticks), "ms in which each worker does one step"
    run, formula = (logarithmic(field, title, format="~s") for field in ("ms", "formula"))
    looks = by_name("scheme", names)
    layers = [line(x, formula, **looks), points(x, run, color=looks["color"])]
    told = "; ".join(_ends([s for s in given if _name(s) == name]) for name in names)
    words = f"Time of a step by the number of workers. Points are runs, lines the formula. {told}."
    heading = {"text": "The ports of a parameter server", "subtitle": "Points: runs. Lines: the formula."}
    size = {"width": WIDTH, "height": HEIGHT}
    return chart({"title": heading, **size, "data": {"values": values}, "layer": layers}, words)


def _name(step: Step) -> str:
    return {0: "all-reduce", 1: "1 server"}.get(step.servers, f"{step.servers} servers")


def _ends(steps: list[Step]) -> str:
    """The fewest and the most workers, in words."""
    ends = " and ".join(f"{1e3 * s.seconds:.0f} ms with {s.workers}" for s in (steps[0], steps[-1]))
    return f"{_name(steps[0])}, {ends}"
