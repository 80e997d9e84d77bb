"""batch_and_rate(): the test error by batch size under each rule for the learning rate, here and published."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lockstep.errors import UsageError
from lockstep.show import svg
from lockstep.show.chart import Chart, chart, domain, logarithmic, named

PANEL, HEIGHT = 330, 160  # pixels of a panel
TICK = 52  # pixels from tick to tick


class Trained(NamedTuple):
    """The test error in percent of a model that was trained with this batch and this rule for the learning rate."""

    batch: int
    rule: str
    error: float


def batch_and_rate(
    here: Iterable[Trained | tuple[int, str, float]],
    published: Iterable[Trained | tuple[int, str, float]],
    titles: tuple[str, str] = ("digits, here", "ImageNet, Goyal et al. 2017"),
) -> Chart:
    """Test error against batch size, a line for each rule: ``here`` on the left and what was ``published`` on the
    right. A rule keeps its colour and dashes in both; a rule of a single batch is a point.

    Raises UsageError if either part is empty, or has a batch below one."""
    given = [[Trained(*row) for row in rows] for rows in (here, published)]
    if not all(given) or min(row.batch for rows in given for row in rows) < 1:
        raise UsageError("Both parts need rows of (batch, rule, error), with batches of one and more.")
    rules = list(dict.fromkeys(row.rule for rows in given for row in rows))
    parts = [sorted(rows) for rows in given]
    panels = [_panel(title, rows, rules) for title, rows in zip(titles, parts, strict=True)]
    told = " ".join(f"{title}: {_ends(rows, rules)}." for title, rows in zip(titles, parts, strict=True))
    words = f"Test error by batch size and rule for the learning rate. {told}"
    return chart({"vconcat": panels, "spacing": 24}, words)


def _panel(title: str, rows: Sequence[Trained], rules: Sequence[str]) -> dict[str, Any]:
    values = [
        row._asdict() | {"told": f"{row.rule}, batch {row.batch:,}: {row.error:.4g} % wrong"} for row in rows
    ]  # fmt: skip
    ticks = sorted({row.batch for row in rows})
    every = 1 + len(ticks) * TICK // PANEL
    x = logarithmic("batch", "examples a batch", format=",d" if ticks[-1] < 1e6 else "~s", values=ticks[::every])
    y: dict[str, Any] = {"field": "error", "type": "quantitative", "axis": {"title": "test error, %"}}
    x["scale"], y["scale"] = _log_from_to(ticks), domain(row.error for row in rows)
    layers = named(values, "rule", x, y, HEIGHT, rules)
    heading = {"text": svg.fitting(title, PANEL, 13, True), "fontSize": 13}
    return {"title": heading, "width": PANEL, "height": HEIGHT, "data": {"values": values}, "layer": layers}


def _log_from_to(ticks: Sequence[int]) -> dict[str, Any]:
    return {"type": "log", "nice": False, "domain": [ticks[0] / 1.1, ticks[-1] * 1.1]}


def _ends(rows: Sequence[Trained], rules: Sequence[str]) -> str:
    """The smallest and the largest batch of each rule, in words."""
    told = []
    for rule in rules:
        own = [row for row in rows if row.rule == rule]
        if own:
            first, last = own[0], own[-1]
            ends = [f"{row.error:.4g} % at {row.batch:,}" for row in ([first, last] if len(own) > 1 else [first])]
            told.append(f"{rule} {', '.join(ends)}")
    return "; ".join(told)
