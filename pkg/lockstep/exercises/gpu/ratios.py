"""What a kernel's counts say, in ratios: for the check of ``diagnose``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

RATIOS: Mapping[str, Callable[[Mapping[str, int]], float]] = {
    "lanes / (32 · instructions)": lambda c: c["lanes"] / (32 * c["instructions"]),
    "32 · sectors / global_bytes": lambda c: 32 * c["sectors"] / max(1, c["global_bytes"]),
    "wavefronts / shared_requests": lambda c: c["wavefronts"] / max(1, c["shared_requests"]),
    "atomics / threads": lambda c: c["atomics"] / c["threads"],
}


def ratios(counts: Mapping[str, int]) -> str:
    told = [f"{ratio} is {value(counts):.2g}" for ratio, value in RATIOS.items()]
    return f"{', '.join(told)}, and races is {counts['races']}."
