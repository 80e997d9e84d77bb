"""``lockstep check``: the verdict on an answer. Exit code 0 passed, 1 wrong or crashed, 3 ungraded (2 is misuse).

With ``--reference`` and ``--all`` it is the course's own answers that are checked, and with ``--wrong`` those that are
known to be wrong: then 0 means that each gets the feedback that it states."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from lockstep.checks import Score, check_all, check_file, check_reference, find
from lockstep.checks.known import known_answers
from lockstep.checks.observe import modules_of
from lockstep.checks.verdict import check_known
from lockstep.cli.answers import table
from lockstep.cli.rank import one_voice, under_launcher
from lockstep.cli.result import kept_for_the_result, say
from lockstep.errors import LockstepError, UsageError

CODES = {"passed": 0, "wrong": 1, "crashed": 1, "ungraded": 3}


def check(args: argparse.Namespace) -> int:
    on = args.on or ("spmd" if under_launcher() else None)
    with kept_for_the_result():
        wanted = _wants(args)
        scores = [] if wanted == "wrong" else _scores(args, on)
    with one_voice():
        if wanted == "wrong":
            return _wrong(args.exercise, on)
        say(_json(scores, args.all) if args.json else "\n".join(score.text() for score in scores))
    return exit_code(scores)


def ahead(exercise: str | None) -> tuple[str, ...]:
    """The modules that the check of an exercise needs, both here and where its ranks are. None if it does not exist, or
    requires what may be missing: that is told when it is checked."""
    try:
        found = find(exercise) if exercise else None
    except LockstepError:
        return ()
    return modules_of(found) if found and not found.run.require else ()


def _wants(args: argparse.Namespace) -> str:
    """What is to be checked: "file", "reference", "wrong" or "all"."""
    chosen = [name for name in ("all", "reference", "wrong") if getattr(args, name)]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} are two things.", "Leave one of the two out.")
    if args.all and args.exercise:
        raise UsageError("--all checks the references, and takes no exercise.", "Leave one of the two out.")
    if chosen and chosen != ["all"] and (args.file or not args.exercise):
        raise UsageError(
            f"--{chosen[0]} takes an exercise and no file.",
            f"Write `lockstep check communication.ring_all_reduce --{chosen[0]}`.",
        )
    if args.apart and (chosen or args.on or under_launcher()):
        raise UsageError("--apart tries your own answer, after the virtual cluster.", "Leave the other option out.")
    if not chosen and not args.file:
        raise UsageError(
            "check needs an exercise and your file.", "Write `lockstep check communication.ring_all_reduce my_ring.py`."
        )
    return chosen[0] if chosen else "file"


def _scores(args: argparse.Namespace, on: str | None) -> list[Score]:
    if args.all:
        return check_all(on)
    return [
        check_reference(args.exercise, on)
        if args.reference
        else check_file(args.exercise, args.file, on, apart=args.apart)
    ]


def _wrong(id: str, on: str | None) -> int:
    """Whether the first thing reported to each known wrong answer is the misconception that it states."""
    known = known_answers(find(id))
    scores = [check_known(id, answer, on) for answer in known]
    print(table([(k.name, k.misconception, s) for k, s in zip(known, scores, strict=True)]))
    told = [s.findings[0].misconception if s.findings else "" for s in scores]
    return int(told != [k.misconception for k in known])


def _json(scores: Sequence[Score], all: bool) -> str:
    if not all:
        return json.dumps(scores[0].to_json(), indent=2)
    return json.dumps({"exercises": [{"exercise": s.exercise} | s.to_json() for s in scores]}, indent=2)


def exit_code(scores: Sequence[Score]) -> int:
    """A wrong answer weighs more than one that could not be checked."""
    codes = {CODES[score.verdict] for score in scores}
    return 1 if 1 in codes else max(codes)
