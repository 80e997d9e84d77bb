"""``lockstep build``: the notebooks and the coverage sheet, from their sources."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lockstep.grading import build as notebooks
from lockstep.grading.course import root


def build(args: argparse.Namespace) -> int:
    if args.open:
        for path in notebooks.build_complete(root(), args.open):
            print(f"built {args.open / path}")
        return 0
    at = root()
    changed = notebooks.build(at, check=args.check)
    if args.check and changed:
        print(f"lockstep: not what their sources make: {', '.join(changed)}.\nRun `lockstep build`.", file=sys.stderr)
        return 1
    for path in changed:
        print(f"built {path}")
    if not changed:
        elsewhere = not Path.cwd().is_relative_to(at)
        print(f"No course is here; {at} is up to date." if elsewhere else "All notebooks are up to date.")
    return 0
