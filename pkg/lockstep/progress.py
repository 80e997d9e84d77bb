"""The learner's progress: scores, predictions, answers and opened cells, stored in one JSON file.

The file is ``progress.json`` in ``home()``. Times are UTC in ISO 8601; points and values are plain numbers::

    {
      "version": 1,
      "scores": {
        "communication.tree_reduce": {"points": 2.0, "maximum": 4.0, "verdict": "wrong", "when": "...", "best": 3.0}
      },
      "predictions": {
        "ring-64": {"value": 3.0, "unit": "ms", "question": "How many ms?", "when": "...", "reason": ""}
      },
      "opened": {"communication.tree_rounds": "solved"},
      "outcomes": {"ring-64": {"simulated": 3.1, "measured": null}},
      "answers": {"communication.messages": {"given": "5", "right": true, "when": "..."}}
    }

``points``, ``verdict`` and ``when`` belong to the last attempt, ``best`` to the best one. ``outcomes`` are what came
out of predictions, ``answers`` those to the lessons' questions; an earlier Lockstep does not know these two. Writes are
atomic (a new file is renamed) and locked, so that two notebooks may write at the same time. A corrupt file is renamed,
and a new one started. A home that cannot be used leads to a message, never to an exception.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

from lockstep.errors import UsageError

VERSION = 1


@dataclass(frozen=True)
class ScoreRecord:
    """The last attempt at an exercise, and the points of the best one."""

    points: float
    maximum: float
    verdict: str  # "passed", "wrong", "crashed"
    when: str
    best: float


@dataclass(frozen=True)
class Prediction:
    """A number that was committed before the result was shown. Only ``reason`` may change later."""

    value: float
    unit: str
    question: str
    when: str
    reason: str = ""  # why prediction, simulation and measurement differ, in the learner's words


@dataclass(frozen=True)
class Outcome:
    """What came out of a prediction, in its unit; None where nothing was simulated, or measured."""

    simulated: float | None = None
    measured: float | None = None

    def miss(self, predicted: float) -> float:
        """The factor, 1 or more, by which ``predicted`` misses the nearer of the two; infinite across zero."""
        came = [value for value in (self.simulated, self.measured) if value is not None]
        return min((_factor(predicted, value) for value in came), default=math.inf)


@dataclass(frozen=True)
class Answer:
    """The last answer to a lesson's question, as it was given; empty where the right one was shown."""

    given: str
    right: bool
    when: str


@dataclass(frozen=True)
class Commitment:
    """The result of committing a prediction: the one in force, and whether it is the one just given."""

    prediction: Prediction
    accepted: bool

    def __str__(self) -> str:
        stands = f"{self.prediction.value:g} {self.prediction.unit}".rstrip()
        return f"Committed: {stands}." if self.accepted else f"You had committed {stands} before, and that stands."


@dataclass
class _Record:
    scores: dict[str, ScoreRecord] = field(default_factory=dict)
    predictions: dict[str, Prediction] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)


_unsaved: dict[Path, _Record] = {}  # records that could not be written, by file
_told: set[str] = set()


def home() -> Path:
    """The folder of persistent data: ``$LOCKSTEP_HOME``, or the user's data folder. It is created if missing."""
    path = Path(os.environ.get("LOCKSTEP_HOME") or platformdirs.user_data_dir("lockstep", appauthor=False))
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    return path


def scores() -> dict[str, ScoreRecord]:
    """The scores of all exercises that were ever checked, by exercise id."""
    return _load().scores


def record_score(exercise: str, points: float, maximum: float, verdict: str) -> None:
    """Record an attempt. An ``ungraded`` one is ignored, since the learner is not responsible for it."""
    if verdict == "ungraded":
        return
    with _changing() as record:
        before = record.scores.get(exercise)
        best = min(maximum, max(points, before.best if before else points))
        record.scores[exercise] = ScoreRecord(points, maximum, verdict, _now(), best)


def predictions() -> dict[str, Prediction]:
    """All committed predictions, by name."""
    return _load().predictions


def prediction(name: str) -> Prediction | None:
    """The prediction committed under ``name``, or None."""
    return predictions().get(name)


def lock_prediction(name: str, value: float, unit: str = "", question: str = "") -> Commitment:
    """Commit ``value`` permanently. If ``name`` is committed already, the first value remains, and the result says so.
    Raises UsageError for an infinite value or NaN."""
    if not math.isfinite(value):
        raise UsageError(f"A prediction is a finite number, not {value}.")
    with _changing() as record:
        accepted = name not in record.predictions
        if accepted:
            record.predictions[name] = Prediction(float(value), unit, question, _now())
        return Commitment(record.predictions[name], accepted)


def give_reason(name: str, reason: str) -> None:
    """Store the learner's explanation with the prediction ``name``. Raises UsageError if there is none."""
    with _changing() as record:
        if name not in record.predictions:
            raise UsageError(f"There is no prediction {name!r} yet.", "Commit it first, with predict(...).")
        record.predictions[name] = replace(record.predictions[name], reason=reason)


def forget_prediction(name: str) -> None:
    """Delete a prediction, so that ``name`` may be predicted again. Does nothing for an unknown name."""
    with _changing() as record:
        record.predictions.pop(name, None)
        record.outcomes.pop(name, None)
        record.opened = {key: how for key, how in record.opened.items() if key not in (name, f"{name}.reason")}


def outcomes() -> dict[str, Outcome]:
    """What came out of predictions, by the prediction's name."""
    return _load().outcomes


def record_outcome(name: str, outcome: Outcome) -> None:
    """Keep what came out of the prediction ``name``. Of one that was never made nothing is kept."""
    known = _load()
    if name in known.predictions and known.outcomes.get(name) != outcome:
        with _changing() as record:
            record.outcomes[name] = outcome


def answers() -> dict[str, Answer]:
    """The last answers to the lessons' questions, by name."""
    return _load().answers


def record_answer(name: str, given: str, right: bool) -> None:
    """Keep an answer. A right one stays, whatever is tried later."""
    with _changing() as record:
        if not (name in record.answers and record.answers[name].right):
            record.answers[name] = Answer(given, right, _now())


def opened() -> dict[str, str]:
    """The opened parts of lessons, by name: "solved", or "shown" without an answer."""
    return _load().opened


def open_up(*names: str, how: str) -> None:
    """Record that ``names`` are open. A solved one stays solved."""
    with _changing() as record:
        record.opened |= {name: how for name in names if record.opened.get(name) != "solved"}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _file() -> Path:
    return home() / "progress.json"


def _load() -> _Record:
    try:
        return _with_unsaved(_read())
    except (ValueError, TypeError, KeyError, AttributeError):
        with _lock():
            return _read_or_set_aside()
    except OSError as error:
        _tell(f"Lockstep cannot read {_file()} ({error.strerror}), so it goes on without your earlier progress.")
        return _unsaved.get(_file(), _Record())


def _read() -> _Record:
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return _Record()
    if data["version"] != VERSION:
        raise ValueError(f"version {data['version']}")
    scores = {str(name): ScoreRecord(**row) for name, row in data["scores"].items()}
    predictions = {str(name): Prediction(**row) for name, row in data["predictions"].items()}
    if not all(_is_number(n) for s in scores.values() for n in (s.points, s.maximum, s.best)):
        raise ValueError("a score that is not a number")
    if not all(_is_number(p.value) for p in predictions.values()):
        raise ValueError("a prediction that is not a number")
    opened = {str(name): str(how) for name, how in data.get("opened", {}).items()}
    outcomes = {str(name): Outcome(**row) for name, row in data.get("outcomes", {}).items()}
    if not all(n is None or _is_number(n) for o in outcomes.values() for n in (o.simulated, o.measured)):
        raise ValueError("an outcome that is not a number")
    answers = {str(name): Answer(**row) for name, row in data.get("answers", {}).items()}
    return _Record(scores, predictions, opened, outcomes, answers)


def _factor(one: float, other: float) -> float:
    if one * other > 0:
        return max(one / other, other / one)
    return 1.0 if one == other else math.inf


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _read_or_set_aside() -> _Record:
    """Under the lock, read the file again, since another notebook may have replaced it; rename it if it is corrupt."""
    try:
        return _read()
    except (ValueError, TypeError, KeyError, AttributeError):
        aside = _file().with_name(f"progress.unreadable-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.json")
        with suppress(OSError):
            _file().rename(aside)
        _tell(f"Your progress file could not be read; Lockstep kept it as {aside.name} and began a new one.")
        return _Record()


@contextmanager
def _changing() -> Iterator[_Record]:
    """An atomic read-modify-write of the record."""
    unusable: OSError | None = None
    with _lock():
        try:
            record = _with_unsaved(_read_or_set_aside())
        except OSError as error:
            record, unusable = _unsaved.get(_file(), _Record()), error
        yield record
        try:
            if unusable is None:
                _write(record)
                _unsaved.pop(_file(), None)
        except OSError as error:
            unusable = error
    if unusable is not None:
        _unsaved[_file()] = record
        _tell(f"Lockstep cannot use {_file()} ({unusable.strerror}), so what you do now will be forgotten in the end.")


def _with_unsaved(record: _Record) -> _Record:
    """``record`` with changes that could not be written before; they are written as soon as possible."""
    if not (mine := _unsaved.get(_file())):
        return record
    return _Record(
        record.scores | mine.scores,
        mine.predictions | record.predictions,
        record.opened | mine.opened,
        record.outcomes | mine.outcomes,
        mine.answers | record.answers,
    )


def _write(record: _Record) -> None:
    """Write atomically: a reader sees the old file or the new one."""
    text = json.dumps({"version": VERSION} | asdict(record), indent=1, ensure_ascii=False)
    handle, name = tempfile.mkstemp(dir=home(), prefix=".progress-", text=True)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as new:
            new.write(text + "\n")
        os.replace(name, _file())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _lock() -> Iterator[None]:
    """A lock among processes and threads. Where files cannot be locked, there is none."""
    try:
        handle = os.open(home() / "progress.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _tell(sentence: str) -> None:
    """Print ``sentence`` once; to stdout in a notebook, because nbgrader gives no points to a cell that writes to
    stderr."""
    if sentence in _told:
        return
    _told.add(sentence)
    print(sentence, file=sys.stdout if "ipykernel" in sys.modules else sys.stderr)
