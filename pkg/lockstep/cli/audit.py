"""``lockstep audit``: which estimators of scikit-learn run in parallel here, and how; and are common claims right?"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lockstep.classical import audit as audits
from lockstep.classical.audit import Verdict
from lockstep.classical.audit.table import explanation, heading, line
from lockstep.errors import UsageError


def audit(args: argparse.Namespace) -> int:
    rows = audits.select(args.estimators)
    if not args.json:
        print(
            f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}, about 5 s each on a quiet machine.\n\n{heading()}",
            flush=True,
        )
    verdicts, failed = _measure(rows, quiet=args.json)
    if args.json:
        print(json.dumps({"rows": [asdict(v) | {"claim_holds": v.claim_holds} for v in verdicts]}, indent=2))
    elif verdicts:
        print(f"\n{explanation(verdicts)}")
    if args.svg:
        _draw(verdicts, args.svg)
    return int(failed)


def _measure(rows: list[str], quiet: bool) -> tuple[list[Verdict], bool]:
    """The verdicts, each printed as soon as it is known; and whether a row could not be measured."""
    verdicts, failed = [], False
    for row in rows:
        try:
            verdicts.append(audits.measured(row))
        except (audits.NotMeasured, UsageError) as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        if not quiet:
            print(line(verdicts[-1]), flush=True)
    return verdicts, failed


def _draw(verdicts: list[Verdict], path: str) -> None:
    from lockstep.show.audit import drawn

    try:
        Path(path).write_text(drawn(verdicts), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The figure cannot be written to {path}: {error.strerror}.") from None
