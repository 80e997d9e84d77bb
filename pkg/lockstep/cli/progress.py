"""``lockstep progress``: what you have done so far."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from lockstep import progress as kept
from lockstep.checks import Exercise, exercises


def progress(args: argparse.Namespace) -> int:
    scores, predictions = kept.scores(), kept.predictions()
    known = {exercise.id: exercise for exercise in exercises()}
    if not scores and not predictions:
        print("Nothing yet. `lockstep lab` opens the course.")
        return 0
    for name, score in sorted(scores.items()):
        extra = "" if name not in known or known[name].core else "  extra"
        print(f"{name:<44} {score.points:>5g} of {score.maximum:g}  {score.verdict:<8} best {score.best:g}{extra}")
    for line in sums({name: score.best for name, score in scores.items()}, known):
        print(line)
    for name, prediction in sorted(predictions.items()):
        print(f"{name:<44} you predicted {prediction.value:g} {prediction.unit}".rstrip())
    print(f"Kept in {kept.home()}.")
    return 0


def sums(best: Mapping[str, float], known: Mapping[str, Exercise]) -> Iterator[str]:
    """A line for each unit that was begun: the points of its core exercises, and those of the extra ones."""
    for topic in dict.fromkeys(e.topic for e in known.values()):
        mine = [e for e in known.values() if e.topic == topic]
        core, extra = (sum(best.get(e.id, 0.0) for e in mine if e.core is is_core) for is_core in (True, False))
        if any(e.id in best for e in mine):
            bonus = f", and {extra:g} extra" if extra else ""
            whole = sum(e.points for e in mine if e.core)
            yield f"{topic:<44} {core:>5g} of {whole:g} core points{bonus}"
