"""Pictures of a learner's own run: what the machine code does, and whose cache lines are whose."""

from __future__ import annotations

from typing import Any

from lockstep.checks.observation import Seen


def registers(seen: Seen) -> str:
    """The vector registers of the innermost loop, as the watch found them."""
    from lockstep.show.registers import draw_registers

    evidence: dict[str, Any] = seen.returned[0][-1] if seen.returned else {}
    found = evidence.get("code") or {}
    if "lanes" not in found:
        return ""
    ratio = evidence.get("ratio", 0.0)
    note = f"In this run it was {ratio:.1f} times as fast as a loop with one accumulator." if ratio else ""
    return draw_registers(found["lanes"], found["bits"], max(1, found["chains"]), found["chains"] > 0, note)


def lines(seen: Seen) -> str:
    """Who wrote to which part of a cache line."""
    from lockstep.show.lines import draw_lines

    evidence = seen.returned[0][-1] if seen.returned else {}
    written = evidence.get("by")
    return draw_lines(written, evidence["transfers"], evidence["workers"]) if written else ""


def misses(seen: Seen, allowed: float) -> str:
    """The misses of the largest product, by array."""
    from lockstep.show.misses import draw_misses

    evidence = seen.returned[0][-1] if seen.returned else {}
    return draw_misses(evidence["misses"], allowed) if evidence.get("misses") else ""
