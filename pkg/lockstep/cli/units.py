"""``lockstep units [UNIT]``: the course on one screen, or the exercises of a unit."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from lockstep.cli.terminal import Painter
from lockstep.grading import course


def units(args: argparse.Namespace) -> int:
    listed = course.units()
    if args.unit:
        named = course.find_unit(args.unit)
        listed["units"] = [unit for unit in listed["units"] if unit["id"] == named.topic]
    painter = Painter()
    lines = _exercises(listed["units"][0], painter) if args.unit else _overview(listed["units"], painter)
    print(json.dumps(listed, indent=2) if args.json else "\n".join(lines))
    return 0


def _overview(units: list[dict[str, Any]], painter: Painter) -> Iterator[str]:
    for unit in units:
        there = [part for part in ("lesson", "lab") if unit[part]]
        core = [e for e in unit["exercises"] if e["core"]]
        extra = len(unit["exercises"]) - len(core)
        counted = f"{len(core)} exercises, {sum(e['minutes'] for e in core)} min; {extra} extra" if core else ""
        told = f"{', '.join(there):<12} {counted}" if there else painter.paint("to come", "faint")
        yield f"{unit['number']:02d}  {unit['title']:<32} {told}".rstrip()
    yield ""
    yield "`lockstep units 04` lists the exercises of unit 04, `lockstep progress` what you have done."


def _exercises(unit: dict[str, Any], painter: Painter) -> Iterator[str]:
    yield painter.paint(f"{unit['number']:02d}  {unit['title']}", "bold")
    for e in unit["exercises"]:
        extra = "" if e["core"] else "  extra"
        yield f"    {e['id']:<44} {e['points']:>2} points  {e['minutes']:>3} min{extra}"
