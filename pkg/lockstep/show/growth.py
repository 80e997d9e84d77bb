"""Charts of messages and collectives: message_times() and all_reduce_growth()."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lockstep.errors import UsageError
from lockstep.show import palette
from lockstep.show.chart import HEIGHT, Chart, by_name, chart, line, logarithmic, points
from lockstep.show.quantities import count, nbytes, seconds
from lockstep.show.svg import WIDTH

MEASURED, FITTED = "#0072B2", "#D55E00"
PANEL = 116  # pixels: how wide one of three is


class Growth(NamedTuple):
    """What an all-reduce of N bytes costs with so many ranks: rounds, and bytes as multiples of N."""

    algorithm: str
    ranks: int
    rounds: float
    total: float
    busiest_port: float


def message_times(sizes: Sequence[int], measured: Sequence[float], alpha: float, beta: float) -> Chart:
    """Measured seconds of a message against its bytes, the line alpha + n·beta, and where both parts are equal.

    ``alpha`` is in seconds, ``beta`` in seconds a byte. Raises UsageError unless each size has its time, above zero.
    """
    if len(sizes) != len(measured) or not sizes or min(*sizes, *measured) <= 0:
        raise UsageError("Each size needs its time, and all of them are above zero.")
    x, y = logarithmic("bytes", "bytes", format="~s"), logarithmic("µs", "µs", format="~s")
    rows = [
        {"bytes": n, "µs": 1e6 * t, "told": f"{nbytes(n)}: measured {seconds(t)}, fitted {seconds(alpha + n * beta)}"}
        for n, t in zip(sizes, measured, strict=True)
    ]  # fmt: skip
    fitted = [{"bytes": n, "µs": 1e6 * (alpha + n * beta)} for n in sizes]
    equal = alpha / beta
    has_rule = min(sizes) < equal < max(sizes)
    rule = {
        "data": {"values": [{"bytes": equal}]},
        "encoding": {"x": x},
        "mark": {"type": "rule", "color": palette.FAINT, "strokeDash": [3, 3], "strokeWidth": 2, "aria": False},
    }
    layers = [
        {"data": {"values": fitted}, **line(x, y, color={"value": FITTED})},
        {"data": {"values": rows}, **points(x, y, color={"value": MEASURED})},
        *([rule] if has_rule else []),
    ]
    words = (
        f"Time of a message by its size. {count(len(sizes), 'measured size')} from {nbytes(min(sizes))} to "
        f"{nbytes(max(sizes))}, and the line alpha + n·beta with alpha {seconds(alpha)} and {nbytes(1 / beta)} a "
        f"second. Both parts are equal at {nbytes(equal)}: smaller messages are mostly alpha."
    )
    key = ["Points: measured. Line: alpha + n·beta."]
    key += [f"Dotted: both parts are equal, at {nbytes(equal)}."] if has_rule else []
    spec = {
        "title": {"text": "Time of a message by its size", "subtitle": key},
        "layer": layers,
        "width": WIDTH,
        "height": HEIGHT,
    }
    return chart(spec | {"autosize": {"type": "fit", "contains": "padding"}}, words)


def all_reduce_growth(counted: Iterable[Growth | tuple[str, int, float, float, float]]) -> Chart:
    """How rounds, all bytes and the busiest port's bytes grow with the ranks, one line for each algorithm.

    A row of ``counted`` is (algorithm, ranks, rounds, bytes in all / N, bytes of the busiest port / N). Both axes are
    logarithmic: K is a line of slope 1, K² one of slope 2. Raises UsageError for counts of zero.
    """
    rows = [Growth(*row) for row in counted]
    if not rows or min(min(row[1:]) for row in rows) <= 0:
        raise UsageError("Logarithmic axes need counts above zero.")
    names = list(dict.fromkeys(row.algorithm for row in rows))
    panels = {"rounds": "rounds", "total": "bytes in all / N", "busiest_port": "busiest port / N"}
    values = [
        {"algorithm": row.algorithm, "K": row.ranks, panel: getattr(row, panel),
         "told": f"{row.algorithm}, {row.ranks} ranks: {title} {getattr(row, panel):.4g}"}
        for panel, title in panels.items() for row in rows
    ]  # fmt: skip
    most, ticks = max(row.ranks for row in rows), sorted({row.ranks for row in rows})[::2]
    looks = by_name("algorithm", names)
    concat = []
    for panel, title in panels.items():
        x, y = logarithmic("K", "ranks K", format="d", values=ticks), logarithmic(panel, None, format="~s")
        own = [row for row in values if panel in row]
        concat.append(
            {"title": {"text": title, "fontSize": 12}, "width": PANEL, "height": 220, "data": {"values": own},
             "layer": [line(x, y, **looks), points(x, y, color=looks["color"])]}
        )  # fmt: skip
    ends = "; ".join(
        f"{row.algorithm} {row.rounds:.4g} rounds, {row.total:.4g} N, {row.busiest_port:.4g} N"
        for row in rows if row.ranks == most
    )  # fmt: skip
    words = (
        f"All-reduce algorithms as ranks grow. Rounds, bytes in all and at the busiest port. With {most} ranks: {ends}."
    )
    return chart({"hconcat": concat, "spacing": 12}, words)
