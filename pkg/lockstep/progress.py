"""What you have done so far: scores and predictions, kept in one JSON file across restarts.

The file is ``progress.json`` in ``home()``. Times are UTC in ISO 8601; points and values are plain numbers::

    {
      "version": 1,
      "scores": {
        "communication.tree_reduce": {"points": 2.0, "maximum": 4.0, "verdict": "wrong", "when": "...", "best": 3.0}
      },
      "predictions": {
        "ring-64": {"value": 3.0, "unit": "ms", "question": "How many ms?", "when": "...", "reason": ""}
      },
      "opened": {"communication.tree_rounds": "solved"}
    }

``points``, ``verdict`` and ``when`` are the last attempt's, ``best`` is the best attempt's. Each write goes to a new
file that then takes the old one's name, under a lock: two notebooks at once lose nothing. A file that makes no sense is
set aside under another name and a new one is begun. A home that cannot be used costs a sentence, never a crash.
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
    """A number that was committed before anything was shown. Only ``reason`` may still change."""

    value: float
    unit: str
    question: str
    when: str
    reason: str = ""  # why prediction, simulation and measurement differ, in the learner's words


@dataclass(frozen=True)
class Commitment:
    """What became of an attempt to commit: the prediction in force, and whether it is the one just given."""

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


_unsaved: dict[Path, _Record] = {}  # by the file in which it should stand
_told: set[str] = set()


def home() -> Path:
    """The folder in which Lockstep keeps what must outlive a session: ``$LOCKSTEP_HOME``, or the user's data folder."""
    path = Path(os.environ.get("LOCKSTEP_HOME") or platformdirs.user_data_dir("lockstep", appauthor=False))
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    return path


def scores() -> dict[str, ScoreRecord]:
    """Every exercise that was ever checked, by its id."""
    return _load().scores


def record_score(exercise: str, points: float, maximum: float, verdict: str) -> None:
    """Remember an attempt. An ``ungraded`` one is no attempt: it was not the learner's doing."""
    if verdict == "ungraded":
        return
    with _changing() as record:
        before = record.scores.get(exercise)
        best = min(maximum, max(points, before.best if before else points))
        record.scores[exercise] = ScoreRecord(points, maximum, verdict, _now(), best)


def predictions() -> dict[str, Prediction]:
    """Every prediction that was committed, by its name."""
    return _load().predictions


def prediction(name: str) -> Prediction | None:
    """The prediction that was committed under ``name``, or None."""
    return predictions().get(name)


def lock_prediction(name: str, value: float, unit: str = "", question: str = "") -> Commitment:
    """Commit ``value`` for ever: if ``name`` is committed already, the first value stands and the result says so."""
    if not math.isfinite(value):
        raise UsageError(f"A prediction is a finite number, not {value}.")
    with _changing() as record:
        accepted = name not in record.predictions
        if accepted:
            record.predictions[name] = Prediction(float(value), unit, question, _now())
        return Commitment(record.predictions[name], accepted)


def give_reason(name: str, reason: str) -> None:
    """Keep the learner's explanation beside the prediction ``name``."""
    with _changing() as record:
        if name not in record.predictions:
            raise UsageError(f"There is no prediction {name!r} yet.", "Commit it first, with predict(...).")
        record.predictions[name] = replace(record.predictions[name], reason=reason)


def forget_prediction(name: str) -> None:
    """Start over: ``name`` may be predicted again. For a name that was never committed this does nothing."""
    with _changing() as record:
        record.predictions.pop(name, None)
        record.opened = {key: how for key, how in record.opened.items() if key not in (name, f"{name}.reason")}


def opened() -> dict[str, str]:
    """What of the lessons was "solved", or "shown" without an answer, by its name."""
    return _load().opened


def open_up(*names: str, how: str) -> None:
    """Remember that these are open from now on. What was solved stays solved."""
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
    return _Record(scores, predictions, opened)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _read_or_set_aside() -> _Record:
    """Under the lock: another notebook may have set the file aside already, so it is read once more."""
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
    """Read, change and write back as one step, alone."""
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
    """What could not be written before counts until this process ends, and is written as soon as it can be."""
    if not (mine := _unsaved.get(_file())):
        return record
    return _Record(record.scores | mine.scores, mine.predictions | record.predictions, record.opened | mine.opened)


def _write(record: _Record) -> None:
    """Whole or not at all: a reader sees the old file or the new one."""
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
    """Exclusive among processes and threads. Where files cannot be locked, go on without one."""
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
    """Once; on stdout in a notebook, because nbgrader gives no points to a cell that writes to stderr."""
    if sentence in _told:
        return
    _told.add(sentence)
    print(sentence, file=sys.stdout if "ipykernel" in sys.modules else sys.stderr)
