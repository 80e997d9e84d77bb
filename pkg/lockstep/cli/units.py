"""``lockstep units``: the course, and what of each unit is there."""

from __future__ import annotations

import argparse
import json
from typing import Any

from lockstep.grading import course


def units(args: argparse.Namespace) -> int:
    listed = course.units()
    print(json.dumps(listed, indent=2) if args.json else "\n".join(_lines(listed["units"])))
    return 0


def _lines(units: list[dict[str, Any]]) -> list[str]:
    lines = []
    for unit in units:
        there = [part for part in ("lesson", "lab", "solution") if unit[part]]
        lines.append(f"{unit['number']:02d} {unit['title']:<32} {', '.join(there) or 'not yet'}")
        lines += [f"     {e['id']:<44} {e['points']:>2} points  {e['minutes']:>3} min" for e in unit["exercises"]]
    return lines
