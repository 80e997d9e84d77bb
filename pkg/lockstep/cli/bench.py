"""``lockstep bench``: Lockstep compared with its peers, in tables of ratios."""

from __future__ import annotations

import argparse
import json

from lockstep import bench as benchmarks
from lockstep.errors import UsageError


def bench(args: argparse.Namespace) -> int:
    if args.against and not args.benchmark:
        raise UsageError("--against compares one benchmark.", "Write `lockstep bench virtual --against COMMIT`.")
    tables = []
    for name in [args.benchmark] if args.benchmark else benchmarks.NAMES:
        found = benchmarks.measure(name, args.size, args.against)
        tables += [{"benchmark": name} | table.to_json() for table in found]
        if not args.json:
            print("\n\n".join(table.text() for table in found), flush=True, end="\n\n")
    if args.json:
        print(json.dumps({"tables": tables}, indent=2))
    return 0
