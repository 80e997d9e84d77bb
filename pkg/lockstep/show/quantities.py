"""Seconds, bytes and counts as a person reads them, and round numbers for axes."""

from __future__ import annotations

import math

_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def seconds(t: float) -> str:
    """``0.0000123`` → ``12.3 µs``."""
    scale, unit = time_unit(t)
    return f"{_round(t / scale)} {unit}"


def time_unit(t: float) -> tuple[float, str]:
    """The unit in which ``t`` seconds read best: (seconds per unit, name)."""
    size = abs(t) * (1 + 1e-9)
    return next(((scale, unit) for scale, unit in _TIME if size >= scale), _TIME[-1] if t else _TIME[0])


def nbytes(n: float) -> str:
    """``1500000`` → ``1.5 MB``: powers of ten, as network speeds are given."""
    for scale, unit in _BYTES:
        if abs(n) >= scale * 0.9995:
            return f"{_round(n / scale)} {unit}"
    return "1 byte" if n == 1 else f"{_round(n)} bytes"


def money(dollars: float) -> str:
    """As in "$1.4 M", "$56.5 k"."""
    return f"${dollars / 1e6:.3g} M" if dollars >= 999_500 else f"${dollars / 1e3:.3g} k"


def count(n: int, one: str, many: str = "") -> str:
    """``count(8064, "message")`` → ``8,064 messages``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _round(x: float) -> str:
    """Three significant digits, without an exponent where that is short."""
    if x == 0:
        return "0"
    if abs(x) >= 1000:
        return f"{x:,.0f}" if abs(x) < 1e7 else f"{x:.3g}"
    return f"{x:.3g}"


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, some ``about`` of them, 1, 2 or 5 times a power of ten apart."""
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """The powers of ten from ``low`` to ``high``, thinned out to nine at most."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**e for e in range(first, last + 1, 1 + (last - first) // 9)]


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain(x: float) -> str:
    """A number of an axis: ``0.001`` to ``100,000`` as they are, beyond them ``2·10⁹``."""
    if x == 0 or 1e-3 <= abs(x) < 1e6:
        return f"{x:,.6g}" if abs(x) < 1e3 else f"{x:,.0f}"
    mantissa, _, power = f"{x:.3e}".partition("e")
    factor, raised = f"{float(mantissa):g}", str(int(power)).translate(RAISED)
    return f"10{raised}" if factor == "1" else f"{factor}·10{raised}"


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """At most ``most`` round numbers from ``low`` to ``high`` for a logarithmic axis: 1, 2 and 5 times powers of ten,
    or 1 and 3 times, or some of these powers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [t for e in range(first, last + 1) for step in steps if low <= (t := step * 10.0**e) <= high]
        if len(found) <= most:
            return found
    powers = [e for e in range(first, last + 1) if low <= 10.0**e <= high]
    return [10.0**e for e in powers[:: math.ceil(len(powers) / most)]]
