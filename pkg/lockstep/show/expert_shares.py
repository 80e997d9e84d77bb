"""expert_shares(): how many of the tokens each expert gets while a small GPT trains, with the balancing loss or not."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.experts.collapse import DENSE, WAYS, Moment, recorded
from lockstep.show.chart import Chart, by_name, chart, line, points

WIDTH, HEIGHT = 205, 210  # pixels of a panel


def expert_shares(moments: Sequence[Moment] | None = None) -> Chart:
    """Two panels, without and with the loss; a line for each expert. The runs are the course's recorded ones."""
    moments = [m for m in (recorded() if moments is None else moments) if m.way != DENSE]
    values = [
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
    x = {"field": "step", "type": "quantitative", "axis": {"title": "step", "tickCount": 4}}
    y = {"field": "share", "type": "quantitative", "axis": {"title": "% of the tokens", "tickCount": 5}}
    looks = by_name("expert", sorted({f"expert {e}" for m in moments for e in range(len(m.shares))}))
    for channel in looks.values():
        channel["legend"]["columns"] = 4
    layers = [line(x, y, **looks), points(x, y, color=looks["color"])]
    panels = {"field": "way", "type": "nominal", "sort": "descending", "title": None,
              "header": {"labelFontSize": 13, "labelFontWeight": 600}}  # fmt: skip
    spec = {"width": WIDTH, "height": HEIGHT, "layer": layers}
    return chart({"data": {"values": values}, "facet": {"column": panels}, "spec": spec}, words(moments))


def words(moments: Sequence[Moment]) -> str:
    last = {m.way: m for m in moments}
    told = ", ".join(f"{way} the loss {100 * max(last[way].shares):.0f} %" for way in WAYS if way in last)
    return f"Shares of {len(moments[0].shares)} experts in the tokens of a training. The largest at the end: {told}."
