"""message_times(): measured times of messages against their sizes, and the fitted line alpha + n·beta."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.errors import UsageError
from lockstep.show import palette
from lockstep.show.chart import HEIGHT, Chart, chart, line, logarithmic, points
from lockstep.show.quantities import count, nbytes, seconds
from lockstep.show.svg import WIDTH

MEASURED, FITTED = palette.ROLES["measured"], palette.ROLES["predicted"]


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
