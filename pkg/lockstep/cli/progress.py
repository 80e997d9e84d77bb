"""``lockstep progress``: what you have done so far."""

from __future__ import annotations

import argparse

from lockstep import progress as kept


def progress(args: argparse.Namespace) -> int:
    scores, predictions = kept.scores(), kept.predictions()
    if not scores and not predictions:
        print("Nothing yet. `lockstep lab` opens the course.")
        return 0
    for exercise, score in sorted(scores.items()):
        print(f"{exercise:<44} {score.points:>5g} of {score.maximum:g}  {score.verdict:<8} best {score.best:g}")
    for name, prediction in sorted(predictions.items()):
        print(f"{name:<44} you predicted {prediction.value:g} {prediction.unit}".rstrip())
    print(f"Kept in {kept.home()}.")
    return 0
