"""consensus(): how the disagreement of ranks that gossip shrinks, step by step, beside what |λ₂| says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from lockstep.errors import UsageError
from lockstep.show.chart import HEIGHT, Chart, by_name, chart, line, logarithmic, points
from lockstep.show.svg import WIDTH

LEAST = 1e-4  # of the first disagreement: what is drawn
LEGEND = 60  # pixels more


class Run(Protocol):
    """As those of ``without_waiting.consensus.measured()``."""

    @property
    def graph(self) -> str: ...

    @property
    def disagreement(self) -> Sequence[float]:
        """After 0, 1, 2 ... steps."""

    @property
    def second_eigenvalue(self) -> float:
        """|λ₂|."""


def consensus(runs: Sequence[Run], most: int = 40) -> Chart:
    """Points: the measured disagreement after each of the first ``most`` steps, as a share of the first. Lines: |λ₂|ⁿ.
    A step that ends in the exact mean leaves the chart at the bottom.

    Raises UsageError if there is no run, or a graph twice."""
    names = [one.graph for one in runs]
    if not names or len(set(names)) < len(names):
        raise UsageError("Give one run or more, each of another graph.")
    looks = by_name("graph", names)
    x = {"field": "step", "type": "quantitative", "axis": {"title": "steps of gossip", "tickCount": 8}}
    y = logarithmic("share", "disagreement, of the first", format="~g", grid=False)
    layers = [
        {"data": {"values": [row for one in runs for row in _predicted(one, most)]}, **line(x, y, **looks)},
        {"data": {"values": [row for one in runs for row in _measured(one, most)]},
         **points(x, y, color=looks["color"], size={"value": 28})},
    ]  # fmt: skip
    told = "; ".join(f"{one.graph} {one.second_eigenvalue:.3f}" for one in runs)
    words = (
        "Disagreement of ranks that gossip, by step. In the end each step multiplies it by |λ₂| of the matrix, "
        f"which is {told}. In the first steps it may shrink faster."
    )
    key = ["Points: measured. Lines: |λ₂| to the power of the step."]
    title = {"text": "How soon do ranks that gossip agree?", "subtitle": key}
    spec = {"title": title, "layer": layers, "width": WIDTH, "height": HEIGHT + LEGEND}
    return chart(spec | {"autosize": {"type": "fit", "contains": "padding"}}, words)


def _predicted(one: Run, most: int) -> list[dict[str, Any]]:
    rate, steps = one.second_eigenvalue, min(most, len(one.disagreement) - 1)
    shares = [(n, rate**n) for n in range(steps + 1)]
    return [{"graph": one.graph, "step": n, "share": share} for n, share in shares if share >= LEAST]


def _measured(one: Run, most: int) -> list[dict[str, Any]]:
    shares = [(n, d / one.disagreement[0]) for n, d in enumerate(one.disagreement[: most + 1])]
    return [
        {"graph": one.graph, "step": n, "share": share, "told": f"{one.graph}, step {n}: {share:.3g}"}
        for n, share in shares
        if share >= LEAST
    ]
