"""``lockstep progress [UNIT]``: what you have done so far, unit by unit, and what comes next."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

from lockstep import progress as kept
from lockstep.checks.listing import listed
from lockstep.cli.terminal import Painter
from lockstep.grading.course import Unit, find_unit
from lockstep.grading.course_map import CourseMap, Row, course_map
from lockstep.grading.course_progress import NEAR, Guess

BAR = 8  # characters
RIGHT = 1.05  # a factor that is as good as none
VERDICTS = {"passed": "green", "wrong": "yellow", "crashed": "yellow"}


def progress(args: argparse.Namespace) -> int:
    named = find_unit(args.unit) if args.unit else None
    done = course_map()
    if not kept.scores() and not any(row.begun for row in done.rows):
        print("Nothing yet. `lockstep lab` opens the course.")
        return 0
    for line in lines(done, named, Painter()):
        print(line)
    print(f"Kept in {kept.home()}.")
    return 0


def lines(done: CourseMap, named: Unit | None, painter: Painter) -> Iterator[str]:
    """Every unit, and the parts of one: of the ``named`` unit, or of the one where you are."""
    rows = [row for row in done.rows if row.lesson or row.lab]
    if named is None:
        yield painter.paint(f"{'':36}{'Lesson, steps':<19}Lab, points", "bold")
        yield from (_row(row, painter) for row in rows)
        yield ""
    chosen = next((row for row in rows if row.unit == named), None) if named else done.latest
    if chosen:
        yield from _parts(chosen, painter)
        yield ""
    if named is None:
        yield from filter(None, [done.total])
        yield painter.paint(done.advice, "bold")
        yield "`lockstep progress 04` shows the parts of unit 04."


def _row(row: Row, painter: Painter) -> str:
    read = f"{row.read.done} of {row.read.of}"
    extra = f", {row.extra:g} extra" if row.extra else ""
    scored = f"{row.points:g} of {row.maximum:g}{extra}"
    lesson = f"{painter.bar(row.read.done, row.read.of, BAR)} {read:<8}" if row.read.of else " " * (BAR + 9)
    lab = f"{painter.bar(row.points, row.maximum, BAR)} {scored}" if row.maximum else ""
    title = f"{row.unit.number:02d}  {row.unit.title:<30}"
    return f"{painter.paint(title, 'bold') if row.begun else title}  {lesson}  {lab}".rstrip()


def _parts(row: Row, painter: Painter) -> Iterator[str]:
    """What was predicted and what came out; and the last and the best attempt at each exercise."""
    yield painter.paint(f"{row.unit.number:02d}  {row.unit.title}", "bold")
    if row.lesson_status:
        yield f"  lesson: {row.lesson_status} predicted, written or answered right"
    yield from (_guess(guess, painter) for guess in row.read.guesses)
    if row.lab:
        yield f"  lab: {row.status}"
    scores = kept.scores()
    for exercise in (e for e in listed() if e.topic == row.unit.topic and e.id in scores):
        score = scores[exercise.id]
        verdict = painter.paint(f"{score.verdict:<8}", VERDICTS.get(score.verdict, "faint"))
        points = f"{score.points:>4g} of {score.maximum:<3g}"
        yield f"    {exercise.function:<34} {points} {verdict} best {score.best:g}{'' if exercise.core else '  extra'}"


def _guess(guess: Guess, painter: Painter) -> str:
    unit = f" {guess.unit}".rstrip()
    came = {"simulated": guess.outcome.simulated, "measured": guess.outcome.measured}
    told = [f"{name} {value:.4g}{unit}" for name, value in came.items() if value is not None]
    off = "right" if guess.miss < RIGHT else f"off by {guess.miss:.3g} ×" if guess.miss < math.inf else ""
    missed = f"  {painter.paint(off, 'green' if guess.miss <= NEAR else 'yellow')}" if guess.has_come_out else ""
    return f"    {guess.name:<22} you {guess.value:.4g}{unit}{''.join(f', {t}' for t in told)}{missed}"
