"""loss_by_bytes(): the loss against the bytes that were sent, a line for each kind of data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from lockstep.errors import UsageError
from lockstep.show import palette
from lockstep.show.chart import Chart, chart, domain, logarithmic, named

WIDTH, HEIGHT = 320, 240  # pixels


class Row(Protocol):
    """A training on some ``data``; its ``method`` names the point: "16". A rank has sent ``nbytes``."""

    @property
    def data(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def nbytes(self) -> float: ...

    @property
    def loss(self) -> float: ...


def loss_by_bytes(rows: Iterable[Row], of: str = "Local SGD", method: str = "period") -> Chart:
    """The loss against the bytes that a rank has sent, on a logarithmic axis: a line for each kind of data; the
    points of the last kind are labelled with their ``method``, here a period.

    Raises UsageError without rows, or where nothing was sent."""
    rows = list(rows)
    given = sorted(rows, key=lambda row: row.nbytes)
    if not given or given[0].nbytes <= 0:
        raise UsageError("The chart needs rows in which something was sent.", "Take those of local_sgd_sweep().")
    kinds = list(dict.fromkeys(row.data for row in rows))
    values = [
        {"data": r.data, "method": r.method, "nbytes": r.nbytes, "loss": r.loss,
         "told": f"{method} {r.method}, {r.data}: {r.nbytes:,.0f} bytes, loss {r.loss:.3g}"}
        for r in given
    ]  # fmt: skip
    x = logarithmic("nbytes", "bytes that a rank sends", format="~s")
    y: dict[str, Any] = {"field": "loss", "type": "quantitative", "axis": {"title": "loss"}}
    x["scale"], y["scale"] = domain((r.nbytes for r in rows), True), domain(r.loss for r in rows)
    names: dict[str, Any] = {
        "mark": {"type": "text", "dx": 8, "dy": -8, "align": "left", "fontSize": 12, "aria": False},
        "transform": [{"filter": {"field": "data", "equal": kinds[-1]}}],
        "encoding": {"x": x, "y": y, "text": {"field": "method"}, "color": {"value": palette.INK}},
    }
    layers = [*named(values, "data", x, y, HEIGHT), names]
    told = "; ".join(f"{kind}, {_ends([r for r in given if r.data == kind], method)}" for kind in kinds)
    words = f"{of}: the loss against the bytes that a rank sends. The numbers are the {method}. {told}."
    return chart({"width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": layers}, words)


def _ends(rows: list[Row], method: str) -> str:
    """The dearest and the cheapest training, in words."""
    return " and ".join(
        f"{row.loss:.3g} after {row.nbytes:,.0f} bytes ({method} {row.method})" for row in (rows[-1], rows[0])
    )
