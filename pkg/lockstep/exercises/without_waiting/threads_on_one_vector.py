"""What threads do to one w, seen from a gradient in which they wait for each other.

It shows the same on an idle and
on a busy machine: the clock decides only how long a thread waits before it gives up.
"""

from __future__ import annotations

import mmap
import operator
import os
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lockstep.without_waiting.lock_free import Floats, Ints

SIZE = 200_000  # of w: an array as long as it is larger than anything else that an answer makes
STRIDE = 20_160  # between threads' own coordinates: whoever has a lock for each i % n of them has one for all
UNUSED = 200  # coordinates that no example uses
SIGNALLING = 0x7FF4000000000001  # the bits of a NaN that a copy keeps, and arithmetic does not
PATIENCE = 1.5  # seconds to wait for threads that do not come, once
LINGER = 0.3  # seconds in which a function that does not wait for its threads returns

RATE = 0.25
WAYS = ("start", "private", "overwrites")  # all gradients from the first w; from a w of its own; over what others wrote

Values = list[list[float]]  # by example


@dataclass(frozen=True)
class Task:
    """Numbers that make every sum exact. ``parted``: whether threads have coordinates of their own; if not, all but the
    last round's examples use the same few."""

    seed: int
    examples: int
    threads: int
    parted: bool

    def draw(self) -> tuple[list[Ints], Floats]:
        """The coordinates of each example, and w: quarters where they are used."""
        dice = np.random.default_rng(self.seed)
        places = dice.choice(STRIDE, UNUSED + 8 + 8 * self.examples, replace=False)
        unused, pool, own = np.split(places, [UNUSED, UNUSED + 8])
        used = np.concatenate([own, *(pool + t * STRIDE for t in range(self.threads if self.parted else 1))])
        w = np.zeros(SIZE)
        w[used] = dice.integers(-40, 40, len(used)) / 4
        w.view(np.int64)[unused] = SIGNALLING
        drawn = []
        for i in range(self.examples):
            if self.parted and i % self.threads == 0:  # all threads of a round alike: a lock of one is that of all
                together = dice.choice(pool, 5, replace=False)
            last = not self.parted and i >= self.examples - self.threads
            shared = together + i % self.threads * STRIDE if self.parted else dice.choice(pool, 5, replace=False)
            drawn.append(np.sort(own[8 * i :][:4] if last else shared))
        return drawn, w

    def gradient(self, i: int, values: Any) -> Floats:
        """Whole numbers, never 0, that depend on all of the values."""
        x = np.random.default_rng([self.seed, i]).choice([-2.0, -1.0, 1.0, 2.0], len(values))
        return np.asarray(x * (np.floor(np.asarray(values, np.float64) @ x) % 11 + 1))

    def foreseen(self, way: str = "") -> tuple[Values, Values]:
        """What each example's gradient is given, and what w holds afterwards at each example's coordinates, where
        threads go on in the order of their examples, and each writes, and reads anew, before the next one writes. Or in
        one of WAYS to do it wrong."""
        drawn, whole = self.draw()
        used = np.unique(np.concatenate(drawn))
        coordinates, w = [np.searchsorted(used, c) for c in drawn], whole[used]
        seen = [w.copy() if way in ("start", "private") else w for _ in range(self.threads)]
        given = [w[c] for c in coordinates]
        for i, c in enumerate(coordinates):
            step, own = RATE * self.gradient(i, given[i]), seen[i % self.threads]
            w[c] = (given[i] if way == "overwrites" else w[c]) - step
            if way == "private":
                own[c] -= step
            if i + self.threads < self.examples:
                given[i + self.threads] = own[coordinates[i + self.threads]]
        return [g.tolist() for g in given], [w[c].tolist() for c in coordinates]


class Shared(np.ndarray[Any, Any]):
    """w, which says where it is written; its copies and views do not."""

    noted: Meeting | None = None

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.noted:
            self.noted.write(key)
        super().__setitem__(key, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **more: Any) -> Any:
        for x in (*out, *inputs[: method == "at"]):
            if isinstance(x, Shared) and x.noted:
                x.noted.write(inputs[1] if method == "at" else slice(None))
        for x in inputs[method == "at" :]:
            if isinstance(x, Shared) and x.noted:
                x.noted.read()
        plain = [x.view(np.ndarray) if isinstance(x, Shared) else x for x in (*inputs, *out)]
        into = {"out": tuple(plain[len(inputs) :])} if out else {}
        result = getattr(ufunc, method)(*plain[: len(inputs)], **into, **more)
        return out[0] if out else result


@dataclass
class Meeting:
    """``gradient``: in it a thread waits until all threads are in it; then they go on together, or one by one."""

    task: Task
    coordinates: list[Ints]
    w: Floats
    taken: dict[threading.Thread, list[int]] = field(default_factory=dict)  # the examples of each, in order
    given: dict[int, list[float]] = field(default_factory=dict)
    misused: str = ""
    failed: str = ""  # what never came, though it was waited for
    dense: bool = False  # whether w was written where the thread's example is not
    reads: bool = False  # whether all of w was read
    old: int | None = None  # an example whose gradient was given other values than w held there then
    unwritten: bool = False  # whether a thread went on to its next example, and w was as before
    most: int = 0  # threads in the gradient at once
    alive: int = 0  # threads that there were when a wait was given up
    done: int = 0  # gradients
    returned: bool = False

    def __post_init__(self) -> None:
        self.changed, self.inside, self.writing = threading.Condition(), 0, set[int]()
        self.process, self.elsewhere = os.getpid(), mmap.mmap(-1, 1)  # which children share
        self.main, self.before = threading.current_thread(), threading.active_count()
        self.places = np.arange(SIZE)

    def gradient(self, i: Any, values: Any) -> Floats:
        """For the learner."""
        i = self._checked(i, values)
        if os.getpid() != self.process:
            self.elsewhere[0] = 1
            return self.task.gradient(i, values)
        with self.changed:
            self._arrive(i, values)
            begin = i - i % self.task.threads
            self._wait("together", lambda: self._came(range(begin, begin + self.task.threads)))
            if not self.task.parted and i > begin:
                self._wait("turns", lambda: self._came([i - 1 + self.task.threads]))
            if self.task.examples < self.task.threads:
                self.changed.wait_for(lambda: self.returned or bool(self.failed), LINGER)
            self.inside -= 1
            self.done += 1
        return self.task.gradient(i, values)

    def write(self, key: Any) -> None:
        """Before w is written: in the first round, where nobody is in another one's way, all are there at once."""
        mine, at = self.taken.get(threading.current_thread()), self.places[key]
        if not mine:
            return
        with self.changed:
            own = self.coordinates[mine[-1]]
            self.dense = self.dense or np.size(at) > len(own) or not np.isin(at, own).all()
            if self.task.parted and len(mine) == 1 and self.task.examples >= 2 * self.task.threads:
                self.writing.add(mine[0])
                self.changed.notify_all()
                self._wait("writes", self._written)

    def read(self) -> None:
        """Before all of w is read by a thread that has an example."""
        self.reads = self.reads or bool(self.taken.get(threading.current_thread()))

    def _written(self) -> bool:
        """Whoever has gone on to another example has written without being seen."""
        gone = {examples[0] for examples in self.taken.values() if len(examples) > 1}
        return len(self.writing | gone) >= self.task.threads

    def end(self, at_once: bool) -> None:
        """The learner's function has returned. Threads that are still at work may finish."""
        with self.changed:
            self.returned = True
            self.changed.notify_all()
            left = not at_once and threading.active_count() > self.before
            self.changed.wait_for(lambda: self.done >= self.task.examples, PATIENCE if left else 0)
        for thread in self.taken:
            if left and thread is not self.main:
                thread.join(LINGER)

    def give_up(self) -> None:
        with self.changed:
            self.failed = self.failed or "error"
            self.changed.notify_all()

    def _checked(self, i: Any, values: Any) -> int:
        try:
            number = operator.index(i)
            count = dict(enumerate(map(len, self.coordinates)))[number]
            if np.shape(values) == (count,):
                return number
            what = f"values of shape {np.shape(values)}; example {number} has {count} coordinates: w[coordinates[i]]"
        except (TypeError, KeyError):
            what = f"{str(i)[:40]} as i; the number of an example is wanted, 0 to {len(self.coordinates) - 1}"
        self.misused = self.misused or what
        raise TypeError(f"gradient(i, values) was handed {what}.")

    def _arrive(self, i: int, values: Any) -> None:
        mine = self.taken.setdefault(threading.current_thread(), [])
        expected = i == mine[-1] + self.task.threads if mine else i < self.task.threads
        if mine and self.w[self.coordinates[mine[-1]]].tolist() == self.given[mine[-1]]:
            self.unwritten = True
        mine.append(i)
        self.given.setdefault(i, np.asarray(values, np.float64).tolist())
        if self.old is None and self.given[i] != self.w[self.coordinates[i]].tolist():
            self.old = i
        self.inside += 1
        self.most = max(self.most, self.inside)
        alone = threading.current_thread() is self.main and threading.active_count() == self.before
        if not expected or (alone and self.task.threads > 1):
            self.failed = self.failed or "order"
        self.changed.notify_all()

    def _came(self, examples: Sequence[int]) -> bool:
        return all(i in self.given for i in examples if i < self.task.examples)

    def _wait(self, what: str, met: Callable[[], bool]) -> None:
        if not self.changed.wait_for(lambda: met() or bool(self.failed), PATIENCE):
            frames, main = sys._current_frames(), self.main.ident
            caller_waits = main in frames and frames[main].f_code.co_filename == threading.__file__
            self.failed, self.alive = what, threading.active_count() - self.before
            self.alive += self.main in self.taken or not caller_waits
            self.changed.notify_all()


def observed(fn: Callable[..., Any], task: Task) -> dict[str, Any]:
    """What the learner's threads do with one task."""
    coordinates, w = task.draw()
    meeting, shared, unused = Meeting(task, coordinates, w), w.view(Shared), np.isnan(w)
    shared.noted = meeting
    before = [w[c].tolist() for c in coordinates]
    with _watched(meeting) as errors:
        try:
            fn(meeting.gradient, [c.copy() for c in coordinates], shared, RATE, task.threads)
        except Exception as error:
            errors.append(error)
        held, done = [w[c].tolist() for c in coordinates], meeting.done
        most_bytes = tracemalloc.get_traced_memory()[1]
        meeting.end(bool(errors))
    if errors and not meeting.misused:
        raise errors[0]
    late = meeting.done > done or held != [w[c].tolist() for c in coordinates]
    return {
        "taken": sorted(meeting.taken.values()), "given": [meeting.given.get(i) for i in range(task.examples)],
        "held": held, "unchanged": held == before, "unwritten": meeting.unwritten, "late": late, "bytes": most_bytes,
        "dense": meeting.dense or bool((w.view(np.int64)[unused] != SIGNALLING).any()), "misused": meeting.misused,
        "reads": meeting.reads, "old": meeting.old,
        "failed": meeting.failed, "most": meeting.most, "alive": meeting.alive, "processes": meeting.elsewhere[0],
    }  # fmt: skip


def compared(found: dict[str, Any], task: Task) -> dict[str, Any]:
    """What was observed, and what of it is not as it should be: the first example that is "missing", that was taken
    "twice", that was given other values ("off") or ends with others ("last"); and the "way" that explains them."""
    calls = [i for mine in found["taken"] for i in mine]
    together, (given, held) = min(task.threads, task.examples), task.foreseen()
    ways = [way for way in WAYS if found["given"] == task.foreseen(way)[0] != given]
    every = range(task.examples)
    return {
        **found, "threads": task.threads, "together": together, "way": ways and ways[0],
        "missing": next((i for i in every if i not in calls), None),
        "twice": next((i for i in calls if calls.count(i) > 1), None),
        "dealt": found["taken"] == [list(every[t :: task.threads]) for t in range(together)],
        "off": next((i for i in every if found["given"][i] != given[i]), None),
        "last": next((i for i in every if found["held"][i] != held[i]), None),
    }  # fmt: skip


@contextmanager
def _watched(meeting: Meeting) -> Iterator[list[BaseException]]:
    """Notes the bytes that Python and NumPy have, and what threads raise, which Python prints and forgets. Who waits
    for such a thread need not wait any longer."""
    errors: list[BaseException] = []

    def note(raised: Any) -> None:
        errors.append(raised.exc_value)
        meeting.give_up()

    before, threading.excepthook = threading.excepthook, note
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # arithmetic with a signalling NaN warns
            yield errors
    finally:
        tracemalloc.stop()
        threading.excepthook = before
