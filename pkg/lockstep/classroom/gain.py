"""What a class has learned, by its answers before and after, and what its size allows to say.

    p      share of learners who answered a question rightly
    g      normalized gain (post - pre) / (100 - pre), in percent: Hake, "Interactive-engagement versus traditional
           methods", American Journal of Physics 66, 64 (1998); for a class from its means
    KR-20  k/(k-1) (1 - sum p(1-p) / variance of the totals): Kuder and Richardson, "The theory of the estimation of
           test reliability", Psychometrika 2, 151 (1937)
    r      point-biserial correlation of a question with the sum of the other eleven, so that it is not compared with
           itself

Only who answered both times counts for g. A question without an answer is not right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean, pvariance

from lockstep.checks.misconceptions import words
from lockstep.checks.wording import counted
from lockstep.classroom import answer_table
from lockstep.classroom.inventory import Question, questions, right
from lockstep.errors import UsageError
from lockstep.reports.report import QUESTIONS

FEW = 10  # learners: below this no correlation is shown
SMALL = 30  # below this the report says what it cannot tell
RESAMPLES = 2000
SURE = 1.96  # standard deviations to either side: 95 %
HIGH, MEDIUM = 0.7, 0.3  # Hake's limits
SHOWN = 10  # wrong choices

Rights = Sequence[Sequence[bool]]  # of each learner, of each question


@dataclass(frozen=True)
class Persistent:
    """A misconception: who chose it before, after, and both times."""

    question: Question
    misconception: str
    before: int
    after: int
    both: int


def gain(pre: float, post: float) -> float | None:
    """Of shares from 0 to 1; None where everything was right before."""
    return None if pre >= 1 else (post - pre) / (1 - pre)


def kr20(rights: Rights) -> float | None:
    """None for one learner, and where all have the same total."""
    totals = [sum(row) for row in rights]
    variance = pvariance(totals) if totals else 0.0
    if not variance:
        return None
    shares = [fmean(column) for column in zip(*rights, strict=True)]
    k = len(shares)
    return k / (k - 1) * (1 - sum(p * (1 - p) for p in shares) / variance)


def point_biserial(rights: Rights, question: int) -> float | None:
    """The correlation of a question, from 0 on, with the sum of the others. None where either is the same for all."""
    own = [float(row[question]) for row in rights]
    others = [float(sum(row) - row[question]) for row in rights]
    spread = math.sqrt(pvariance(own) * pvariance(others)) if rights else 0.0
    if not spread:
        return None
    return (fmean(a * b for a, b in zip(own, others, strict=True)) - fmean(own) * fmean(others)) / spread


def class_gain(before: Rights, after: Rights) -> float | None:
    """Hake's: from the means of the class."""
    return gain(_mean(before), _mean(after))


def interval(before: Rights, after: Rights) -> tuple[float, float] | None:
    """Where the gain of a class lies in 95 % of such classes: learners are drawn anew, with replacement."""
    draw = Random(0)
    pairs = [(sum(a), sum(b)) for a, b in zip(before, after, strict=True)]
    of = len(pairs) * QUESTIONS
    drawn = (draw.choices(pairs, k=len(pairs)) for _ in range(RESAMPLES))
    gains = [gain(sum(a for a, _ in one) / of, sum(b for _, b in one) / of) for one in drawn]
    known = sorted(g for g in gains if g is not None)
    if len(known) < RESAMPLES:
        return None
    return known[round(0.025 * RESAMPLES)], known[round(0.975 * RESAMPLES) - 1]


def persistent(before: Sequence[str], after: Sequence[str]) -> list[Persistent]:
    """Wrong choices of those who answered both times, those first that most have made twice."""
    chosen: dict[tuple[int, str], Counter[str]] = {}
    for one, other in zip(before, after, strict=True):
        for n, (a, b) in enumerate(zip(one, other, strict=True)):
            earlier, later = (_named(form, n, letter) for form, letter in (("before", a), ("after", b)))
            for name, when in ((earlier, "before"), (later, "after"), (earlier if earlier == later else "", "both")):
                if name:
                    chosen.setdefault((n, name), Counter())[when] += 1
    asked = questions("after")
    rows = [Persistent(asked[n], name, c["before"], c["after"], c["both"]) for (n, name), c in chosen.items()]
    return sorted(rows, key=lambda row: (-row.both, -row.after, row.question.number))


def report(before: Path, after: Path) -> Iterator[str]:
    """The analysis of two files, as lines. Raises UsageError where nobody stands in both."""
    first, second = answer_table.read(before), answer_table.read(after)
    who = sorted(first.keys() & second.keys())
    if not who:
        raise UsageError(f"Nobody stands in both {before} and {after}.", "Learners need the same code both times.")
    rights = [[right(form, told[learner]) for learner in who] for form, told in (("before", first), ("after", second))]
    alone = [len(told) - len(who) for told in (first, second)]
    yield f"{counted(len(who), 'learner')} answered both times, {alone[0]} only before, {alone[1]} only after."
    yield ""
    yield from _table(*rights)
    yield ""
    yield from _of_class(*rights)
    yield ""
    yield from _wrong(persistent([first[w] for w in who], [second[w] for w in who]))
    yield ""
    yield from _what_it_cannot_tell(len(who))


def _table(before: Rights, after: Rights) -> Iterator[str]:
    yield f"{'':>4} {'units':<6} {'concept':<54} {'before':>7} {'after':>7} {'g':>6} {'r before':>9} {'r after':>8}"
    for n, question in enumerate(questions("before")):
        pre, post = (fmean(row[n] for row in rights) for rights in (before, after))
        r = [_number(point_biserial(rights, n) if len(rights) >= FEW else None) for rights in (before, after)]
        units = ", ".join(f"{unit:02d}" for unit in question.units)
        yield (
            f"{question.number:>3}. {units:<6} {question.concept:<54} {pre:>6.0%} {post:>7.0%} "
            f"{_number(gain(pre, post)):>7} {r[0]:>9} {r[1]:>8}"
        )


def _of_class(before: Rights, after: Rights) -> Iterator[str]:
    whole = class_gain(before, after)
    between = interval(before, after)
    about = f"; 95 % interval {between[0]:.2f} to {between[1]:.2f}" if between and len(before) > 1 else ""
    kind = "" if whole is None else ", high" if whole >= HIGH else ", medium" if whole >= MEDIUM else ", low"
    yield f"The class: {_mean(before):.0%} right before, {_mean(after):.0%} after."
    yield f"Normalized gain {_number(whole)}{kind} by Hake's limits{about}."
    shown = [_number(kr20(rights) if len(rights) >= FEW else None) for rights in (before, after)]
    yield f"Reliability (KR-20): {shown[0]} before, {shown[1]} after."


def _wrong(rows: Sequence[Persistent]) -> Iterator[str]:
    if not rows:
        yield "No wrong choice was made."
        return
    yield "Wrong choices, those first that most learners have made both times:"
    yield f"{'before':>8} {'after':>6} {'both':>5}"
    for row in rows[:SHOWN]:
        named = f"{row.question.number}. {words(row.misconception)} ({row.question.exercise}: {row.misconception})"
        yield f"{row.before:>8} {row.after:>6} {row.both:>5}  {named}"


def _what_it_cannot_tell(learners: int) -> Iterator[str]:
    percent = 100 * SURE * math.sqrt(0.25 / learners)
    yield f"With {counted(learners, 'learner')} a question's share is uncertain by up to ± {percent:.0f} points (95 %)."
    if learners < FEW:
        yield f"No r and no KR-20 below {FEW} learners: they would say nothing."
    elif learners < SMALL:
        r = SURE / math.sqrt(learners - 1)
        yield f"A question that has nothing to do with the others still has an r of up to ± {r:.2f} by chance."
        yield "Judge no question by it."
    yield "The two forms ask for the same with other numbers; nobody has measured that they are equally difficult."


def _named(form: str, question: int, letter: str) -> str:
    choice = questions(form)[question].choice(letter)
    return choice.misconception if choice else ""


def _mean(rights: Rights) -> float:
    return fmean(fmean(row) for row in rights)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
