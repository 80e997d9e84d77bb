"""Task graphs: the work, the critical path, and list scheduling of dependent tasks on several workers.

    task            a piece of work that one worker does without interruption
    after           the tasks whose results it needs: data dependence
    work            the minutes of all tasks: the time of one worker
    critical path   the longest chain of dependent tasks: no number of workers takes less

So the speedup is at most work / critical path, and at most the number of workers. An idle worker takes the ready task
with the longest remaining path; such a schedule takes at most critical path + (work - critical path) / workers
(Graham, "Bounds for certain multiprocessing anomalies", 1966).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockstep.errors import UsageError


@dataclass(frozen=True)
class Task:
    """A node of the task graph. ``after``: the names of tasks that it waits for, which come before it in the list."""

    name: str
    minutes: float
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """A task as it was scheduled: who did it, from when to when (minutes)."""

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
    """The minutes of all tasks: what one worker takes."""
    return sum(task.minutes for task in tasks)


def earliest_end(minutes: float, ends: Sequence[float]) -> float:
    """The earliest end of a task whose predecessors end at ``ends``."""
    return max(ends, default=0) + minutes


def earliest_ends(
    tasks: Sequence[Task], line: Callable[[float, Sequence[float]], float] = earliest_end
) -> dict[str, float]:
    """The earliest end of each task with unlimited workers. ``line`` computes one end from a task's minutes and the
    ends of its predecessors. Raises UsageError for a cycle."""
    ends: dict[str, float] = {}
    for task in tasks:
        if missing := [name for name in task.after if name not in ends]:
            raise UsageError(f"“{task.name}” waits for “{missing[0]}”, which no task above it is.", "Put it above.")
        ends[task.name] = line(task.minutes, [ends[name] for name in task.after])
    return ends


def critical_path(tasks: Sequence[Task]) -> list[str]:
    """The names of the tasks on a longest chain of dependent tasks, first to last."""
    ends, named = earliest_ends(tasks), {task.name: task for task in tasks}
    chain = [max(ends, key=lambda name: ends[name])] if ends else []
    while chain and (after := named[chain[0]].after):
        chain.insert(0, max(after, key=lambda name: ends[name]))
    return chain


def schedule(tasks: Sequence[Task], workers: int, speeds: Sequence[float] = ()) -> list[Done]:
    """List scheduling: each idle worker takes the ready task with the longest remaining path.

    ``speeds``: the minutes of work that each worker does in a minute; 1 by default.
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
    """The makespan: minutes until the last task is done."""
    return max((one.end for one in schedule(tasks, workers, speeds)), default=0.0)


def _ways_to_the_end(tasks: Sequence[Task]) -> dict[str, float]:
    """The remaining path of each task: minutes from its start to the end of all, with unlimited workers."""
    earliest_ends(tasks)  # refuses a cycle
    rest = {task.name: task.minutes for task in tasks}
    for task in reversed(tasks):
        for name in task.after:
            own = next(t.minutes for t in tasks if t.name == name)
            rest[name] = max(rest[name], own + rest[task.name])
    return rest
