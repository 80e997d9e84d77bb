"""``lockstep doctor``: examines this machine and reports each problem with its remedy. Exit code 1 if there is any."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from functools import partial
from typing import Any

from lockstep.progress import home
from lockstep.this_machine import doctor as examination
from lockstep.this_machine.survey import Survey, full_survey

tell = partial(print, file=sys.stderr)


def doctor(args: argparse.Namespace) -> int:
    findings = examination.examine()
    measured = full_survey(refresh=True, say=tell) if args.survey else None
    if args.json:
        report: dict[str, Any] = {"findings": examination.to_json(findings)}
        print(json.dumps(report | ({"survey": asdict(measured)} if measured else {}), indent=2))
    else:
        print(examination.table(findings))
        print(f"\n{measured}{_drawn(measured)}" if measured else "\n`lockstep doctor --survey` measures this machine.")
    return int(any(not f.ok and not f.optional for f in findings))


def _drawn(measured: Survey) -> str:
    """Leave a drawing of the machine next to the survey, and say where; nothing if it cannot be written."""
    from lockstep.show import survey

    path = home() / "survey.svg"
    try:
        path.write_text(survey(measured).svg(), encoding="utf-8")
    except OSError:
        return ""
    return f"\n{'drawn':<28}{path}"
