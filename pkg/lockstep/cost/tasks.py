"""Tasks that wait for each other: what many workers can do at once, and what no number of workers makes shorter.

    task            a piece of work that one worker does without a stop
    after           the tasks whose results it needs: data dependence
    work            the minutes of all tasks: the time of one worker
    critical path   the longest chain of tasks that wait for each other: no number of workers takes less

So the speedup is at most work / critical path, and at most the number of workers. A worker that is free takes the ready
task with the longest way to the end; such a schedule takes at most critical path + (work - critical path) / workers
(Graham, "Bounds for certain multiprocessing anomalies", 1966).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockstep.errors import UsageError


@dataclass(frozen=True)
class Task:
    """``after`` names tasks that stand above this one in the list."""

    name: str
    minutes: float
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """A worker's work on one task."""

    task: Task
    worker: int
    start: float
    end: float


# One step of a small training: read the data, learn from four parts of it, bring together what was learned.
TRAINING = (
    Task("read", 2),
    Task("split", 1, ("read",)),
    *(Task(f"clean {part}", 2, ("split",)) for part in "ABCD"),
    *(Task(f"learn {part}", 6 if part == "D" else 3, (f"clean {part}",)) for part in "ABCD"),
    Task("add", 1, tuple(f"learn {part}" for part in "ABCD")),
    Task("test", 3, ("add",)),
)


def work(tasks: Sequence[Task]) -> float:
    """The minutes of one worker, who does all of them."""
    return sum(task.minutes for task in tasks)


def earliest_end(minutes: float, ends: Sequence[float]) -> float:
    """When a task ends at the earliest, if those that it waits for end at ``ends``."""
    return max(ends, default=0) + minutes


def earliest_ends(
    tasks: Sequence[Task], line: Callable[[float, Sequence[float]], float] = earliest_end
) -> dict[str, float]:
    """When each task ends with as many workers as it takes, by ``line``. Raises UsageError for a circle."""
    ends: dict[str, float] = {}
    for task in tasks:
        if missing := [name for name in task.after if name not in ends]:
            raise UsageError(f"“{task.name}” waits for “{missing[0]}”, which no task above it is.", "Put it above.")
        ends[task.name] = line(task.minutes, [ends[name] for name in task.after])
    return ends


def critical_path(tasks: Sequence[Task]) -> list[str]:
    """The names of a longest chain of tasks that wait for each other, first to last."""
    ends, named = earliest_ends(tasks), {task.name: task for task in tasks}
    chain = [max(ends, key=lambda name: ends[name])] if ends else []
    while chain and (after := named[chain[0]].after):
        chain.insert(0, max(after, key=lambda name: ends[name]))
    return chain


def schedule(tasks: Sequence[Task], workers: int, speeds: Sequence[float] = ()) -> list[Done]:
    """Who does what when, if each worker that is free takes the ready task with the longest way to the end.

    ``speeds``: how many minutes of work each worker does in a minute; 1 where nothing is said.
    """
    if workers < 1:
        raise UsageError(f"There must be at least 1 worker, not {workers}.")
    speeds = speeds or [1.0] * workers
    rest, ends, done = _ways_to_the_end(tasks), dict[str, float](), list[Done]()
    waiting, free = list(tasks), [(0.0, worker) for worker in range(workers)]
    while waiting:
        moment, worker = heapq.heappop(free)
        ready = [t for t in waiting if all(ends.get(name, moment + 1) <= moment for name in t.after)]
        if not ready:  # wait for the next task that ends
            heapq.heappush(free, (min(end for end in ends.values() if end > moment), worker))
            continue
        task = max(ready, key=lambda t: rest[t.name])
        waiting.remove(task)
        ends[task.name] = moment + task.minutes / speeds[worker]
        done.append(Done(task, worker, moment, ends[task.name]))
        heapq.heappush(free, (ends[task.name], worker))
    return done


def minutes_on(tasks: Sequence[Task], workers: int, speeds: Sequence[float] = ()) -> float:
    """When the last task is done."""
    return max((one.end for one in schedule(tasks, workers, speeds)), default=0.0)


def _ways_to_the_end(tasks: Sequence[Task]) -> dict[str, float]:
    """The minutes from each task's start to the end of all, with as many workers as it takes."""
    earliest_ends(tasks)  # refuses a circle
    rest = {task.name: task.minutes for task in tasks}
    for task in reversed(tasks):
        for name in task.after:
            own = next(t.minutes for t in tasks if t.name == name)
            rest[name] = max(rest[name], own + rest[task.name])
    return rest
