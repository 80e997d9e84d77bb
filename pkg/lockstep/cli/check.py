"""``lockstep check``: the verdict on an answer. Exit code 0 passed, 1 wrong or crashed, 3 ungraded (2 is misuse)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from lockstep.checks import Score, check_all, check_file
from lockstep.cli.rank import one_voice, under_launcher
from lockstep.cli.result import kept_for_the_result, say
from lockstep.errors import UsageError

CODES = {"passed": 0, "wrong": 1, "crashed": 1, "ungraded": 3}


def check(args: argparse.Namespace) -> int:
    on = args.on or ("spmd" if under_launcher() else None)
    with kept_for_the_result():
        scores = check_all(on) if _wants_all(args) else [check_file(args.exercise, args.file, on)]
    with one_voice():
        say(_json(scores, args.all) if args.json else "\n".join(score.text() for score in scores))
    return exit_code(scores)


def _wants_all(args: argparse.Namespace) -> bool:
    if args.all and args.exercise:
        raise UsageError("--all checks the references, and takes no exercise.", "Leave one of the two out.")
    if not args.all and not args.file:
        raise UsageError(
            "check needs an exercise and your file.", "Write `lockstep check communication.ring_all_reduce my_ring.py`."
        )
    return bool(args.all)


def _json(scores: Sequence[Score], all: bool) -> str:
    if not all:
        return json.dumps(scores[0].to_json(), indent=2)
    return json.dumps({"exercises": [{"exercise": s.exercise} | s.to_json() for s in scores]}, indent=2)


def exit_code(scores: Sequence[Score]) -> int:
    """A wrong answer weighs more than one that could not be checked."""
    codes = {CODES[score.verdict] for score in scores}
    return 1 if 1 in codes else max(codes)
