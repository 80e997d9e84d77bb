"""What threads do to one w, seen from a gradient in which they wait for each other: the same on an idle and a busy
machine, since nothing but the time that a wrong answer takes depends on the clock."""

import mmap
import operator
import os
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lockstep.without_waiting.sparse import Floats, Ints

SIZE = 2_000_000  # of w: an array as long as it is larger than anything else that an answer makes
UNUSED = 200  # coordinates that no example uses
SIGNALLING = 0x7FF4000000000001  # the bits of a NaN that a copy keeps, and arithmetic does not
PATIENCE = 1.5  # seconds to wait for threads that do not come, once
LINGER = 0.3  # seconds in which a function that does not wait for its threads returns

Values = dict[int, list[float]]


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
        places = dice.choice(SIZE, UNUSED + 8 * (self.threads + self.examples), replace=False)
        unused, pools, own = places[:UNUSED], places[UNUSED:][: 8 * self.threads], places[UNUSED + 8 * self.threads :]
        w = np.zeros(SIZE)
        w[places] = dice.integers(-40, 40, len(places)) / 4
        w.view(np.int64)[unused] = SIGNALLING
        drawn = []
        for i in range(self.examples):
            pool = pools[i % self.threads :: self.threads] if self.parted else pools[:8]
            last = not self.parted and i >= self.examples - self.threads
            drawn.append(np.sort(own[8 * i :][:4] if last else dice.choice(pool, 5, replace=False)))
        return drawn, w

    def gradient(self, i: int, values: Any) -> Floats:
        """Whole numbers, never 0, that depend on all of the values."""
        x = np.random.default_rng([self.seed, i]).choice([-2.0, -1.0, 1.0, 2.0], len(values))
        return np.asarray(x * (np.floor(np.asarray(values, np.float64) @ x) % 11 + 1))


RATE = 0.25
WAYS = ("right", "start", "private", "stale", "uphill", "no rate")


def foreseen(task: Task, way: str = "right") -> tuple[Values, Values]:
    """What each example's gradient is given, and what w holds afterwards at each example's coordinates: if threads are
    let go in the order of their examples, and one writes and reads anew before the next one writes. Or in a wrong
    ``way``: from w as it was at the start, from the thread's own updates alone, overwriting what others wrote ..."""
    coordinates, whole = task.draw()
    used = np.unique(np.concatenate(coordinates))
    coordinates, w = [np.searchsorted(used, c) for c in coordinates], whole[used]
    seen = [{"start": w.copy(), "private": w.copy()}.get(way, w) for _ in range(task.threads)]
    given = {i: w[c] for i, c in enumerate(coordinates[: task.threads])}
    for i, c in enumerate(coordinates):
        step = {"uphill": -RATE, "no rate": 1}.get(way, RATE) * task.gradient(i, given[i])
        w[c] = (given[i] if way == "stale" else w[c]) - step
        mine, after = seen[i % task.threads], i + task.threads
        if way == "private":
            mine[c] -= step
        if after < len(coordinates):
            given[after] = mine[coordinates[after]]
    return {i: v.tolist() for i, v in given.items()}, {i: w[c].tolist() for i, c in enumerate(coordinates)}


class Shared(np.ndarray[Any, Any]):
    """w, which says where it is written; its copies and views do not."""

    noted: "Meeting | None" = None

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.noted:
            self.noted.write(key)
        super().__setitem__(key, value)


@dataclass
class Meeting:
    """``gradient``: in it a thread waits until all threads are in it; then they go on together, or one by one."""

    task: Task
    coordinates: list[Ints]
    taken: dict[threading.Thread, list[int]] = field(default_factory=dict)  # the examples of each, in order
    given: Values = field(default_factory=dict)
    misused: str = ""
    failed: str = ""  # what was waited for in vain
    dense: bool = False  # whether w was written where the thread's example is not
    most: int = 0  # threads in the gradient at once
    alive: int = 0  # other threads that there were when waiting was in vain
    done: int = 0
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

    def give_up(self) -> None:
        with self.changed:
            self.failed = self.failed or "error"
            self.changed.notify_all()

    def _checked(self, i: Any, values: Any) -> int:
        try:
            number = operator.index(i)
            count = len(self.coordinates[number])
            if np.shape(values) == (count,):
                return number
            what = f"values of shape {np.shape(values)}; example {number} has {count} coordinates: w[coordinates[i]]"
        except (TypeError, IndexError):
            what = f"{str(i)[:40]} as i; the number of an example is wanted, 0 to {len(self.coordinates) - 1}"
        self.misused = self.misused or what
        raise TypeError(f"gradient(i, values) was handed {what}.")

    def _arrive(self, i: int, values: Any) -> None:
        mine = self.taken.setdefault(threading.current_thread(), [])
        expected = i == mine[-1] + self.task.threads if mine else i < self.task.threads
        mine.append(i)
        self.given.setdefault(i, np.asarray(values, np.float64).tolist())
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
            self.failed, self.alive = what, threading.active_count() - self.before
            self.changed.notify_all()


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    """What the learner's threads do with one task."""
    task = Task(*call)
    coordinates, w = task.draw()
    unused, meeting, shared = np.isnan(w), Meeting(task, coordinates), w.view(Shared)
    shared.noted = meeting
    with _errors_of_threads(meeting) as errors, _memory() as peak:
        try:
            fn(meeting.gradient, [c.copy() for c in coordinates], shared, RATE, task.threads)
        except Exception as error:
            errors.append(error)
        peak[0], at_return, late = tracemalloc.get_traced_memory()[1], [w[c].tolist() for c in coordinates], meeting.done
        meeting.end(bool(errors))
    if errors and not meeting.misused:
        raise errors[0]
    return {
        "taken": sorted(meeting.taken.values()), "misused": meeting.misused, "failed": meeting.failed,
        "most": meeting.most, "alive": meeting.alive, "late": meeting.done - late, "processes": meeting.elsewhere[0],
        "given": [meeting.given.get(i) for i in range(task.examples)], "held": at_return, "bytes": peak[0],
        "dense": meeting.dense or bool((w.view(np.int64)[unused] != SIGNALLING).any()),
    }  # fmt: skip


@contextmanager
def _errors_of_threads(meeting: Meeting) -> Iterator[list[BaseException]]:
    """What threads raise, which Python prints and forgets. Whoever waits for such a thread need not wait any longer."""
    errors: list[BaseException] = []

    def note(raised: Any) -> None:
        errors.append(raised.exc_value)
        meeting.give_up()

    before, threading.excepthook = threading.excepthook, note
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield errors
    finally:
        threading.excepthook = before


@contextmanager
def _memory() -> Iterator[list[int]]:
    """The most bytes that Python and NumPy had at once, from its beginning on."""
    tracemalloc.start()
    try:
        yield [0]
    finally:
        tracemalloc.stop()
