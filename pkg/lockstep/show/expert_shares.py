"""expert_shares(): how many of the tokens each expert gets while a small GPT trains, with the balancing loss or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lockstep.experts.collapse import DENSE, WAYS, Moment, recorded
from lockstep.show.chart import Chart, chart, domain, level, named

WIDTH, HEIGHT = 350, 150  # pixels of a panel


def expert_shares(moments: Sequence[Moment] | None = None) -> Chart:
    """Two panels, without and with the loss; a line for each expert. The runs are the course's recorded ones."""
    moments = [m for m in (recorded() if moments is None else moments) if m.way != DENSE]
    values: list[dict[str, Any]] = [
        {
            "way": f"{m.way} the balancing loss",
            "step": m.step,
            "share": 100 * share,
            "expert": f"expert {e}",
            "told": f"{m.way} the loss, step {m.step}: expert {e} has {100 * share:.0f} %",
        }
        for m in moments
        for e, share in enumerate(m.shares)
    ]
    x: dict[str, Any] = {"field": "step", "type": "quantitative", "axis": {"title": "step", "tickCount": 4}}
    y: dict[str, Any] = {"field": "share", "type": "quantitative", "axis": {"title": "% of the tokens", "tickCount": 5}}
    x["scale"], y["scale"] = domain(row["step"] for row in values), {"domain": [0, 100]}
    even = 100 / len(moments[0].shares)
    panels = [
        {
            "title": {"text": way, "fontSize": 13, "subtitle": f"dotted: an even share, {even:g} %"},
            "width": WIDTH,
            "height": HEIGHT,
            "layer": [level(even, y), *named(rows, "expert", x, y, HEIGHT)],
            "data": {"values": rows},
        }
        for way in sorted({str(row["way"]) for row in values}, reverse=True)
        for rows in [[row for row in values if row["way"] == way]]
    ]
    return chart({"vconcat": panels, "spacing": 24}, words(moments))


def words(moments: Sequence[Moment]) -> str:
    last = {m.way: m for m in moments}
    told = ", ".join(f"{way} the loss {100 * max(last[way].shares):.0f} %" for way in WAYS if way in last)
    return f"Shares of {len(moments[0].shares)} experts in the tokens of a training. The largest at the end: {told}."
