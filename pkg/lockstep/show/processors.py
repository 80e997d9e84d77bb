"""processors(): transistors, clock frequency and cores of the processors that people bought, since 1978."""

from __future__ import annotations

import math
from typing import Any

from lockstep.show import palette
from lockstep.show.chart import Chart, chart, domain, logarithmic, named
from lockstep.tables import published

NAMES = {"transistors": "transistors", "megahertz": "clock frequency, MHz", "cores": "cores"}
HEIGHT = 250
DECADES = [1980, 1990, 2000, 2010, 2020]
FREE_LUNCH = 2005  # Sutter, "The free lunch is over: a fundamental turn toward concurrency in software"


def processors() -> Chart:
    """Three lines from ``cost/data/processors.csv``, and the year in which Sutter called the free lunch over."""
    rows = published("cost", "processors.csv")
    values: list[dict[str, Any]] = [
        {"year": int(row["year"]), "what": name, "count": float(row[column]),
         "told": f"{row['year']}: {float(row[column]):,.0f} {name}"}
        for column, name in NAMES.items() for row in rows
    ]  # fmt: skip
    x: dict[str, Any] = {
        "field": "year",
        "type": "quantitative",
        "axis": {"title": "year", "format": "d", "values": DECADES},
    }
    y = logarithmic("count", None, format="~s")
    x["scale"] = {"domain": [DECADES[0] - 3, DECADES[-1] + 5], "nice": False}
    y["scale"] = domain((row["count"] for row in values), True)
    over = {
        "mark": {"type": "rule", "aria": False, "color": palette.INK, "strokeDash": [2, 3]},
        "encoding": {"x": {"datum": FREE_LUNCH, "type": "quantitative", "scale": x["scale"]}},
    }
    title = {"text": "Ever more transistors, and a clock that stands still", "subtitle": "dotted: Sutter, 2005"}
    layers = [over, *named(values, "what", x, y, HEIGHT)]
    return chart({"title": title, "width": 340, "height": HEIGHT, "data": {"values": values}, "layer": layers}, words())


def years_to_double(start: int = 1978, end: int = 2004) -> float:
    """In how many years the clock frequency doubled between two years of the table, on average."""
    clock = {int(row["year"]): float(row["megahertz"]) for row in published("cost", "processors.csv")}
    return (end - start) / math.log2(clock[end] / clock[start])


def words() -> str:
    first, *_, last = published("cost", "processors.csv")
    told = [f"{name} from {float(first[column]):,.0f} to {float(last[column]):,.0f}" for column, name in NAMES.items()]
    years = f"{first['year']} to {last['year']}"
    return f"Processors from {years}: {', '.join(told)}. Since about 2004 the clock stands still."
