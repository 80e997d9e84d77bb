"""``check``: observe, judge, and keep the score. The three parts meet here and nowhere else."""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from lockstep import progress, reports
from lockstep.checks import run_faults
from lockstep.checks.borrowed import remark
from lockstep.checks.closer_look import Closer
from lockstep.checks.exercise import Exercise, exercises
from lockstep.checks.judge import Finding, fault_of, mark, plainly_endless
from lockstep.checks.known import Known, helpful
from lockstep.checks.listing import listed
from lockstep.checks.load import NoFunction, Unreadable, load
from lockstep.checks.misconceptions import first_named
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.observe import LAUNCHED_CASE_LIMIT, LIMIT, Ungraded, observe, observe_reference, warm_up
from lockstep.checks.plain_exercise import PlainExercise
from lockstep.checks.register import find, plain_exercises
from lockstep.checks.score import Score
from lockstep.checks.seeds import seed, under_autograde
from lockstep.checks.slips import hinted
from lockstep.checks.ungraded import settle
from lockstep.checks.wording import printable
from lockstep.errors import LockstepError, UsageError
from lockstep.launch.interrupt import told_shortly
from lockstep.launchers.detection import detect
from lockstep.worlds import run

FAIR = 4  # times as long as the course's own answer may take
LOUD = 10_000  # characters printed in one case that deserve a word
APART = 2  # world sizes: starting so many processes took most of the time in which a class was graded
SHARED = "On the virtual cluster the values are right. On separate processes, which share no memory, they are not: {}"
INCOMPARABLE = (
    "What your function gives, or makes of what it is given, cannot be compared with what is wanted ({}). Are all "
    "types, dtypes and shapes those of the text?"
)
CORRECT = "Correct the solution, or what is expected of it."
NOT_WRONG = "passes all cases and checks. Add a case that it fails, or leave it out."
CUT = "more was printed"  # how every world ends prints that it cuts short


@told_shortly()
def check(id: str, fn: Callable[..., Any] | None = None, on: str | None = None) -> Score:
    """The score of ``fn`` as an answer to the exercise ``id``, on a virtual cluster or in the world ``on``.

    Raises UsageError for an unknown exercise, a world that does not exist, or an ``fn`` that is no function.
    """
    if callable(id):
        raise _wrong_way_round(id)
    exercise = find(id)
    if not callable(fn):
        what = "none was given" if fn is None else f"this is {fn!r:.40}, of type {type(fn).__name__}"
        again = f" Run the cell that defines {exercise.function} again, if the name means something else by now."
        raise UsageError(
            f"check needs your function: {what}.",
            f'Write check("{id}", {exercise.function}): without parentheses after the function\'s name.'
            + ("" if fn is None else again),
        )
    return settle(_scored(exercise, fn, on, keep=True))


def _wrong_way_round(fn: Callable[..., Any]) -> UsageError:
    name = getattr(fn, "__name__", "your_function")
    meant = next((e.id for e in listed() if e.function == name), "communication.ping_pong")
    return UsageError("check takes the exercise first, named by a string.", f'Write check("{meant}", {name}).')


def check_file(id: str, path: str | Path, on: str | None = None, keep: bool = True, apart: bool = False) -> Score:
    """The same for the function of the exercise's name in a .py or .ipynb file. ``keep``: as the learner's progress.
    ``apart``: values are judged on separate processes, too, as they are under nbgrader autograde."""
    exercise = find(id)
    try:
        fn = load(path, exercise.function)
    except NoFunction as error:
        return score_of(exercise, Observation(exercise.id, "", problem=str(error)))
    except Unreadable as error:
        return _ungraded(exercise, error)
    return _scored(exercise, fn, on, keep, apart)


def check_all(on: str | None = None) -> list[Score]:
    """Every exercise's own reference, checked like a learner's answer: all must pass."""
    return [check_reference(exercise.id, on) for exercise in (*exercises(), *plain_exercises())]


def check_reference(id: str, on: str | None = None) -> Score:
    """The same for one exercise. (``check`` refuses a reference as it refuses whoever calls it.)"""
    exercise = find(id)
    if not exercise.solved:
        raise UsageError(f"The solution of {exercise.id} is not here.", "Its author has it.")
    score = _scored(exercise, None, on, keep=False)
    return _with_lines(exercise, score) if isinstance(exercise, PlainExercise) and not score.passed else score


def _with_lines(exercise: PlainExercise, score: Score) -> Score:
    """What is wrong with a teacher's solution, or with a case of it: where that stands."""
    found = [
        replace(f, message=f"{exercise.plain.at(f.case.settings['line'])}. {f.message}{_below(f.message)}{CORRECT}")
        if f.case
        else f
        for f in score.findings
    ]
    return score.with_findings(found, instead=True)


def _below(message: str) -> str:
    """What separates a message from what is added: it may end with lines of Python's."""
    return "\n" if "\n" in message else " "


def check_known(id: str, known: Known, on: str | None = None) -> Score:
    """The same for a known wrong answer."""
    exercise = find(id)
    score = _scored(exercise, known.load(exercise.function), on, keep=False)
    if not score.passed or not isinstance(exercise, PlainExercise) or not known.loads:
        return score
    at = exercise.plain.at(exercise.plain.mistakes[known.name].line)
    return score.with_findings([Finding(f"{at}: {known.name} {NOT_WRONG}", "right")], instead=True)


def _observe(exercise: Exercise, fn: Callable[..., Any] | None, on: str | None) -> Observation:
    return observe_reference(exercise, on) if fn is None else observe(exercise, fn, on)


def _scored(
    exercise: Exercise, fn: Callable[..., Any] | None, on: str | None, keep: bool, apart: bool = False
) -> Score:
    """``fn``: None for the exercise's own reference."""
    if keep and not under_autograde() and exercise.id not in progress.scores():
        # Steps show most of the answer: not at the first attempt.
        exercise = replace(exercise, feedback=replace(exercise.feedback, steps=None))
    try:
        with _quietly():
            observation = _observe(exercise, fn, on)
            with _meeting(observation):
                score = _judged_or_wrong(exercise, observation, fn, on)
            if score.passed and fn and observation.world == "virtual" and (apart or under_autograde()):
                score = _apart(exercise, fn, score)
            if score.passed and fn:
                score = score.with_findings(remark(exercise, fn))
    except UsageError:
        raise
    except Exception as error:
        return _ungraded(exercise, error)
    launched = detect()
    written = all(f.misconception != "not-written" for f in score.findings)
    if keep and written and (launched is None or launched.rank == 0):
        progress.record_score(exercise.id, score.points, score.maximum, score.verdict)
        _tell_the_board(score)
    return score


def _tell_the_board(score: Score) -> None:
    """The class's board, if this learner has joined it."""
    if score.verdict == "ungraded" or under_autograde() or not reports.has_joined():
        return
    found = [] if score.passed else score.findings
    with contextlib.suppress(Exception):  # whatever is wrong there, it is no business of a check
        reports.after_check(score.exercise, score.points, first_named(score.exercise, found))


def _judged_or_wrong(
    exercise: Exercise, observation: Observation, fn: Callable[..., Any] | None, on: str | None
) -> Score:
    """The score; where what an answer has given cannot even be compared, and what the course's own gives can, no
    points."""
    try:
        return _judged_fairly(exercise, observation, fn, on, _closer(exercise, fn))
    except LockstepError:
        raise
    except Exception as error:
        if fn is None or observation.world == "spmd" or not _is_passed_by_its_reference(exercise, on):
            raise
        told = printable(INCOMPARABLE.format(f"{type(error).__name__}: {error}"))
        finding = Finding(told, "incomparable", exercise.points)
        return Score(exercise.id, 0.0, exercise.points, "wrong", [finding])


def _is_passed_by_its_reference(exercise: Exercise, on: str | None) -> bool:
    return not exercise.solved or _scored(exercise, None, on, keep=False).passed


def _judged_fairly(
    exercise: Exercise,
    observation: Observation,
    fn: Callable[..., Any] | None,
    on: str | None,
    closer: Closer | None = None,
) -> Score:
    """The score; where time ran out, and the course's own answer takes as long, after another try with more time."""
    score = score_of(exercise, observation, closer)
    if not _out_of_time(score) or plainly_endless(observation) or not exercise.solved:
        return score
    if observation.world == "spmd":
        _refuse_a_busy_machine(exercise)
        return score
    longer = _time_that_is_fair(exercise, observation, on)
    if longer <= exercise.run.timeout:
        return score
    patient = replace(exercise, run=replace(exercise.run, timeout=longer))
    return score_of(exercise, _observe(patient, fn, on), closer)


def _apart(exercise: Exercise, fn: Callable[..., Any], score: Score) -> Score:
    """The score of an answer that has passed on the virtual cluster, where ranks are threads of one process, after its
    values were judged where they share nothing, in APART world sizes. What they cost was judged there."""
    if exercise.pure:
        return score
    free = replace(exercise.costs, budgets=(), economise=None)
    exercise = replace(exercise, costs=free, worlds=_sizes_apart(exercise))
    observation = observe(exercise, fn, "processes")
    if not any(fault_of(seen, run_faults.examine(exercise)) for seen in observation):
        if observation.unseen:
            raise _too_busy()
        return score
    found = _judged_fairly(exercise, observation, fn, "processes")
    first = replace(
        found.findings[0], message=SHARED.format(found.findings[0].message), misconception="needs-shared-memory"
    )
    return Score(
        exercise.id, found.points, found.maximum, found.verdict, [first], found.trace, "", found.states, "", found.case
    )


def _sizes_apart(exercise: Exercise) -> tuple[int, ...]:
    """Drawn by the seed, which under grading is secret. One rank has nobody to share with."""
    several = [size for size in exercise.worlds if size > 1]
    return tuple(sorted(Random(seed(exercise.id, 0)).sample(several, min(APART, len(several)))))


@contextlib.contextmanager
def _meeting(observation: Observation) -> Iterator[None]:
    """Under a launcher rank 0 alone looks closer, and the others wait for it, however that ends: a launcher ends all
    ranks when one of them ends with an error."""
    try:
        yield
    finally:
        gone = any(seen.failure is not None and seen.failure.kind == "RankDied" for seen in observation)
        if observation.world == "spmd" and not gone:
            with contextlib.suppress(LockstepError):
                run(int, on="spmd")


def _out_of_time(score: Score) -> bool:
    return any(f.misconception in ("too-slow", "crashed:TimeLimit", "crashed:Stuck") for f in score.findings)


def _refuse_a_busy_machine(exercise: Exercise) -> None:
    """Ungraded where the course's own answer takes too long under the launcher, too. All ranks come to the same: they
    compare no clocks of their own, but how the run ended and its trace, which every rank has."""
    own = observe_reference(exercise, "spmd")
    if own.unseen or any(seen.failure or seen.trace.time > LAUNCHED_CASE_LIMIT / FAIR for seen in own):
        raise _too_busy()


def _time_that_is_fair(exercise: Exercise, observation: Observation, on: str | None) -> float:
    """Seconds for a case: several times what the course's own answer takes, now and on the world where time ran out.

    Ungraded if that is too long: on a machine so busy a right answer would run out of time as well."""
    hung = next((seen.case.ranks for seen in observation if seen.failure), None)
    slower = replace(exercise.run, timeout=LIMIT / 2)
    patient = replace(exercise, run=slower, worlds=exercise.worlds if hung is None else (hung,))
    warm_up(patient, observation.world)  # the learner's function may have ended its sandbox
    began = time.monotonic()
    own = observe_reference(patient, on, limit=LIMIT / 2)
    took = time.monotonic() - began
    if took > LIMIT / 2 or own.unseen or any(seen.failure for seen in own):
        raise _too_busy()
    simulated = hung is not None and on != "processes" and not exercise.run.real_machine
    return min(FAIR * took, LIMIT) if simulated else exercise.run.timeout


def _too_busy() -> Ungraded:
    return Ungraded(
        "This machine is too busy to check anything now: the course's own answer takes too long here, too.",
        "Run the check again when less is going on.",
    )


def _closer(exercise: Exercise, fn: Callable[..., Any] | None) -> Closer | None:
    """Who looks closer at what is wrong; under a launcher only one rank does."""
    launched = detect()
    if fn is None or (launched is not None and launched.rank):
        return None
    return Closer(exercise, fn)


def score_of(exercise: Exercise, observation: Observation, closer: Closer | None = None) -> Score:
    """Judge an observation. Pure, but for ``closer``: the learner's code is not touched."""
    findings = [replace(f, message=printable(f.message)) for f in _judged(exercise, observation, closer)]
    crashed = any(f.misconception.startswith("crashed:") for f in findings)
    verdict = "passed" if not findings else "crashed" if crashed else "wrong"
    shown = _shown(exercise, observation, findings)
    if exercise.feedback.picture:
        picture = exercise.feedback.picture(shown) if shown and not shown.failure else ""
    else:
        picture = closer.picture() if closer else ""
    return Score(
        exercise.id,
        exercise.points - sum(f.points for f in findings),
        exercise.points,
        verdict,
        [*findings, *_loud(observation)],
        shown.trace if shown else None,
        run_faults.spent(exercise, shown) if shown and verdict == "passed" else "",
        shown.failure.states if shown and shown.failure else (),
        picture,
        str(shown.case) if shown else "",
    )


def _judged(exercise: Exercise, observation: Observation, closer: Closer | None) -> list[Finding]:
    found = mark(
        observation,
        exercise.points,
        run_faults.examine(exercise),
        run_faults.economise(exercise),
        exercise.values.share,
        exercise.costs.forbidden,
        closer,
    )
    crashed = any(seen.failure for seen in observation)
    like_known = [known.hint for known in helpful(exercise)] if crashed else []
    return hinted(found, observation, exercise.feedback.hints, like_known)


def _shown(exercise: Exercise, observation: Observation, findings: Sequence[Finding]) -> Seen | None:
    """The run that a finding speaks of; or else, for a picture of the exercise's own, the last one, and for a timeline
    one that is large enough to see something in and small enough to see it."""
    seen = [s for s in observation if exercise.feedback.picture or _has_a_timeline(s)]
    told = [s for f in findings for s in seen if s.case == f.case]
    if told or exercise.feedback.picture:
        return next(iter(told or seen[::-1]), None)
    return min(seen, key=lambda s: (abs(s.case.size - 4), len(s.trace)), default=None)


def _has_a_timeline(seen: Seen) -> bool:
    return bool(seen.trace.communication and (seen.trace.time > 0 or seen.failure))


def _loud(observation: Observation) -> list[Finding]:
    if not any(len(seen.printed) > LOUD or CUT in seen.printed for seen in observation):
        return []
    return [
        Finding(
            "Your function prints a great deal. It takes time and costs no points; nothing of it is shown.", "prints"
        )
    ]


def _ungraded(exercise: Exercise, error: Exception) -> Score:
    told = str(error) if isinstance(error, LockstepError) else f"{type(error).__name__}: {error}"
    return Score(exercise.id, 0.0, exercise.points, "ungraded", [Finding(printable(told), "ungraded")])


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """What ranks print stays out of the cell: nbgrader takes anything on stderr for a failure."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
