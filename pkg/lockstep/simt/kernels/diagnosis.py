"""Diagnoses a kernel from its counts, by ratios: absolute numbers only say how large a kernel is."""

from __future__ import annotations

from collections.abc import Mapping

LANES, SECTOR = 32, 32  # lanes of a warp, bytes of a sector


def diagnose(counts: Mapping[str, int]) -> str:
    """What makes a kernel slow, or wrong: "race", "serial atomics", "uncoalesced", "bank conflicts", "divergence" or
    "healthy". ``counts`` are named as in `lockstep.simt.LineCounts`, with "threads" of the launch and "races" found.

    Errors come first, then causes with a sign of their own; divergence is last, because lanes that wait their turn look
    idle as well."""
    if counts["races"]:
        return "race"
    if counts["atomics"] > 0.25 * counts["threads"]:
        return "serial atomics"
    if SECTOR * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * LANES * counts["instructions"]:
        return "divergence"
    return "healthy"
