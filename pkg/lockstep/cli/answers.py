"""``lockstep answers``: the verdict and feedback that each of many answers would get; nothing is kept."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from lockstep.checks import Score, check_file
from lockstep.cli.result import kept_for_the_result, say

WIDEST = 28  # characters of a column


def answers(args: argparse.Namespace) -> int:
    with kept_for_the_result():
        scores = [check_file(args.exercise, file, keep=False) for file in args.files]
    if args.json:
        told = [{"file": file} | score.to_json() for file, score in zip(args.files, scores, strict=True)]
        say(json.dumps({"exercise": args.exercise, "answers": told}, indent=2))
    else:
        say(table([(Path(file).stem, None, score) for file, score in zip(args.files, scores, strict=True)]))
    return 3 if any(score.verdict == "ungraded" for score in scores) else 0


def table(rows: Sequence[tuple[str, str | None, Score]]) -> str:
    """A line for each answer: its name, its points, its feedback as ids and in words. Where an answer states
    which feedback it should get, a line that differs is marked."""
    lines = []
    for name, stated, score in rows:
        told = [finding.misconception for finding in score.findings]
        mark = "" if stated is None else "  " if told[:1] == [stated] else "! "
        aside = f"  (states {stated})" if mark == "! " else ""
        lines.append(
            f"{mark}{name:<{WIDEST}} {score!r:>5} of {score.maximum:g}  {score.verdict:<8} {', '.join(told)}{aside}"
        )
        lines += [f"      {line}" for line in score.text().splitlines()[1:]]
    return "\n".join(lines)
