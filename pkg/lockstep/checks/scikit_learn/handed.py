"""What a learner hands to Parallel: is each item a task, and can it go to another process?

Joblib takes an item apart and calls it, whatever it is, so its errors tell of what follows: "cannot unpack non-iterable
float object". Here the item itself is looked at, and the sentence names what the learner did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cloudpickle

from lockstep.checks.hints import CRASHED, Hint, hinted
from lockstep.checks.judge import Finding
from lockstep.checks.observation import Failure, Observation
from lockstep.errors import UsageError

NOTHING = "your tasks return nothing. They run in other processes: what they write into your list or array is lost."
USED_UP = "Your folds are used up"
ONE_ESTIMATOR = "All tasks work on the estimator that you were given"
_HANGS = ("crashed:TimeLimit", "crashed:Stuck")
_TASK_HANGS = (
    "That is where the caller waits for the tasks, so a task does not end. Does a loop in it never stop, or does it "
    "wait for what nobody gives it, such as a lock that another task has taken and not released (write `with lock:`)?"
)
_PLAIN = "Give it only numbers, arrays, estimators and functions, and let it return its result."
_NO_LOCK = "Tasks in processes share nothing, so they need no lock: let each return its result, and put these together."
_KINDS = {
    "_thread.lock": "a lock",
    "_thread.RLock": "a lock",
    "_thread._local": "memory of one thread",
    "generator": "a generator",
    "module": "a module",
}


def no_task(items: Sequence[Any]) -> UsageError | None:
    """None if every item is what ``delayed(function)(arguments)`` makes; or else what the learner did instead."""
    for item in items:
        if not _is_task(item):
            return _instead(item)
        if not callable(item[0]):
            return UsageError(
                f"delayed was handed {_of_type(item[0])}, not a function: what should be done by a worker is done "
                "already.",
                "Write delayed(f)(x), not delayed(f(x))(): the function's name without brackets comes first.",
                "called-at-once",
            )
    return None


def _is_task(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 3 and isinstance(item[1], tuple) and isinstance(item[2], dict)


def _instead(item: Any) -> UsageError:
    """What the learner did in place of ``delayed(function)(arguments)``."""
    delayed = callable(item) and hasattr(item, "__wrapped__")
    given = item.__wrapped__ if delayed else item
    if delayed and callable(given):
        name = getattr(given, "__name__", "f")
        return UsageError(
            f"Parallel was handed delayed({name}), which is no task yet: it has no arguments.",
            f"Put them behind it, in brackets of their own: delayed({name})(...).",
            "never-called",
        )
    if callable(given):
        return UsageError(
            "Parallel was handed one task, or a bare function. It wants a list of tasks, or a generator of them.",
            "Write Parallel(n_jobs=n_jobs)(delayed(f)(x) for x in ...).",
            "one-task",
        )
    return UsageError(
        f"Parallel was handed no task but {_of_type(given)}: you called your function yourself, one call after the "
        "other, and nothing is left for the workers.",
        "Write delayed(f)(x), not f(x) and not delayed(f(x)): delayed writes the call down for a worker.",
        "called-at-once",
    )


def _of_type(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def copied(items: Any) -> Any:
    """Tasks as another process would get them; UsageError if they cannot go there."""
    try:
        return cloudpickle.loads(cloudpickle.dumps(items))
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(
            f"A task cannot be copied to another process: it holds, or its function names, {_culprit(error)}.",
            f'{_NO_LOCK if "lock" in _culprit(error) else _PLAIN} With prefer="threads" nothing is copied.',
            "cannot-be-copied",
        ) from error


def ensure_returns_travel(results: Any) -> None:
    """Raises UsageError if what tasks return could not come back from another process."""
    try:
        cloudpickle.dumps(results)
    except Exception as error:
        advice = " A function with yield in it returns a generator: write return." if "generator" in str(error) else ""
        raise UsageError(
            f"What a task returns cannot be copied back from another process: it holds {_culprit(error)}.",
            f"Return numbers, arrays or estimators.{advice}",
            "cannot-be-copied",
        ) from error


def _culprit(error: Exception) -> str:
    """What cannot be copied, in a learner's words where they are known."""
    named = re.search(r"'([\w.]+)' object", str(error))
    kind = named.group(1) if named else ""
    if str(error).startswith(("Lock objects", "RLock objects", "Semaphore objects", "Queue objects")):
        return f"a {str(error).split()[0].lower()} of multiprocessing"
    if "pickle files" in str(error):
        return "an open file"
    return _KINDS.get(kind, f"something that Python cannot pickle ({error})")


HINTS: tuple[Hint, ...] = (
    (r"set_params\(\) takes 1 positional", "set_params wants names: set_params(**parameters) unpacks the dict."),
    (r"PicklingError(.|\n)*\b(Pool|pool)\b", "That is a pool of multiprocessing. Hand the tasks to joblib: "
     "Parallel(n_jobs=n_jobs)(delayed(f)(x) for x in ...)."),
    (r"for \+: 'int' and 'tuple'", "sum cannot add pairs. Add their parts: sum(s for s, _ in found), and the same for "
     "the counts."),
    (r"shapes \((\d+),\d+\) \(\1,\)", "Each row is to be divided by its own count: counts[:, None] makes a column of "
     "the counts."),
    (r"shapes \(\d+,(\d+)\) \(\d+,1\)|shapes \(\d+,\) \(\d+,\)", "There is not a count for each centre. np.bincount is "
     "only as long as its largest label: np.bincount(..., minlength=len(centres))."),
    (r"index \d+ is out of bounds for axis 0 with size (.|\n)*argmin", "The distances have a row for each row of X: "
     "argmin(axis=1) is the nearest centre of each."),
)  # fmt: skip


def named(findings: Sequence[Finding], observation: Observation, hints: Sequence[Hint] = ()) -> list[Finding]:
    """The findings of a judge, where a UsageError of this unit is told as what it is, and not as a crash; where a task
    that never ends is not taken for a loop of the caller; and where an error is followed by what to do."""
    told = [_named(finding, observation.failure_with(finding.case)) for finding in findings]
    return hinted(told, observation, hints, HINTS)


def _named(finding: Finding, failure: Failure | None) -> Finding:
    if failure is None:
        return finding
    if finding.misconception == CRASHED and failure.mistake:
        return replace(finding, misconception=failure.mistake, message=failure.text)
    if finding.misconception in _HANGS and "Parallel(" in failure.source:
        return replace(finding, message=f"With {finding.case}: {failure.message}\n{_TASK_HANGS}")
    return finding
