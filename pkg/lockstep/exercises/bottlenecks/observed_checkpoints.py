"""A training that writes checkpoints on a disk which takes long: what is written, when, and what the training does
meanwhile. Facts, no sentences. Steps and writes wait for each other by events:

- A step that follows a checkpoint changes the state, and then lets the write begin. On a quick disk it lets it end,
  too, and its file be renamed.
- A slow write ends when the training cannot go on without it. A bound on each wait ends what never comes.
- Another thread that reads the state lets the training go on first, if it does.
- While a write still runs and the next checkpoint is due, the tensors have other values (``EARLY``), which only a copy
  that is made too early can have.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor

from lockstep.checks.plain import plain
from lockstep.exercises.bottlenecks.watched_tensors import unwatched, watched

Evidence = dict[str, Any]
Tensors = dict[str, Tensor]
SLOW, QUICK = 1.0, 0.0  # the share of the writes that take until the training waits for them
LINGER, GOES_ON, ENDING, EARLY = 0.05, 0.3, 1.0, -77  # seconds, and a value
PATIENT, IMPATIENT = 2.0, 0.1  # seconds, until a function has let something wait in vain, and from then on
IN_VAIN: WeakSet[Callable[..., Any]] = WeakSet()
WAIT_FOR_THEIR_COPY: WeakSet[Callable[..., Any]] = WeakSet()
TRIED: dict[str, list[tuple[int, int, tuple[int, ...], float]]] = {  # steps, every, steps whose write fails, slow ones
    "one checkpoint": [(5, 3, (), SLOW)],
    "several checkpoints": [(11, 3, (), SLOW)],
    "a checkpoint after the last step": [(6, 3, (), SLOW)],
    "a checkpoint after each step": [(4, 1, (), SLOW)],
    "a quick disk": [(10, 3, (), QUICK), (5, 1, (), QUICK)],
    "a disk that is sometimes slow": [(17, 2, (), 0.5)],
    "a write that fails": [(10, 3, (6,), SLOW), (10, 3, (6,), QUICK)],
    "a first write that fails": [(7, 3, (3,), SLOW)],
    "a last write that fails": [(9, 3, (9,), SLOW)],
    "only writes that fail": [(6, 2, (2, 4, 6), SLOW)],
    "no checkpoint, and no step": [(2, 5, (), SLOW), (0, 3, (), SLOW)],
}


class DiskFull(OSError):
    """What a write raises that fails."""


class Training:
    """What has happened. All that changes here does so with ``changed`` held."""

    def __init__(self, fn: Callable[..., Any], steps: int, every: int, fails: tuple[int, ...], slow: float, seed: int):
        self.steps, self.every, self.fails, self.slow, self.dice = steps, every, fails, slow, Random(seed)
        self.fn, self.changed, self.thread = fn, threading.Condition(), threading.current_thread()
        numbers = torch.Generator().manual_seed(seed)
        drawn = torch.randint(-50, 50, (25,), generator=numbers)
        self.tensors: Tensors = {
            "embedding.weight": drawn[:12].float().view(3, 4).t(), "output.bias": drawn[12:17].double() / 4,
            "momentum": drawn[17:].bfloat16().view(2, 2, 2), "step": torch.zeros((), dtype=torch.int64),
        }  # fmt: skip
        self.made, self.elsewhere, self.hidden, self.returned = 0, False, False, False
        self.states = [self.copied()]
        self.writes: list[Evidence] = []
        self.renames: list[Evidence] = []
        self.files: dict[str, tuple[bool, int | None]] = {}  # by name: whether it is whole, and of which step
        self.good: int | None = None
        self.idle: list[int] = []  # steps after which the training went on before the write began
        self.late: list[int] = []  # steps after whose good write the training went on before its file had its name
        self.let_go_on: set[int] = set()

    def copied(self) -> Tensors:
        return {name: tensor.clone() for name, tensor in self.tensors.items()}

    def restored(self) -> None:
        if self.hidden:
            for name, tensor in self.tensors.items():
                tensor.copy_(self.states[-1][name])
        self.hidden = False

    def waits(self, until: Callable[[], bool], most: float | None = None) -> bool:
        """Bounded: by ``most`` seconds, or by a patience that is short once something was awaited in vain."""
        if most is not None:
            return self.changed.wait_for(until, most)
        found = self.changed.wait_for(until, IMPATIENT if self.fn in IN_VAIN else PATIENT)
        if not found:
            IN_VAIN.add(self.fn)
        return found

    def due(self) -> int:
        """The checkpoints that are due by now."""
        return min(self.made, self.steps) // self.every

    def step(self) -> None:
        """A step changes all tensors, and then lets the write of the step before begin."""
        with self.changed:
            wanted = self.due()
            self.restored()
            for tensor in self.tensors.values():
                tensor += 1
            self.made += 1
            self.states.append(self.copied())
            self.elsewhere |= threading.current_thread() is not self.thread
            self.changed.notify_all()
            if not self.waits(lambda: len(self.writes) >= wanted or self.returned):
                self.idle.append(wanted * self.every)
            elif self.slow == QUICK and not self.waits(lambda: self.at_rest() or self.returned) and self.good:
                self.late.append(self.good)
            if self.made == (wanted + 1) * self.every <= self.steps and self.running():
                for tensor in self.tensors.values():
                    tensor.fill_(EARLY)
                self.hidden = True

    def at_rest(self) -> bool:
        """Whether nothing is being written, and what was written well has its name."""
        return not self.running() and (self.good is None or self.files.get("checkpoint") == (True, self.good))

    def running(self) -> list[Evidence]:
        return [write for write in self.writes if not write["ended"]]

    def is_read(self) -> None:
        """A thread that reads after a step that the training does not wait for finds a later state."""
        if threading.current_thread() is self.thread:
            return
        with self.changed:
            at = self.made
            if at not in self.let_go_on:
                self.let_go_on.add(at)
                known = self.fn in WAIT_FOR_THEIR_COPY
                if not self.waits(lambda: self.made > at or self.returned, GOES_ON / 10 if known else GOES_ON):
                    WAIT_FOR_THEIR_COPY.add(self.fn)

    # ---- the disk

    def begins(self, name: str, given: Any) -> Evidence:
        step = (len(self.writes) + 1) * self.every
        found = self.step_of(given)
        write: Evidence = {
            "due": step, "has": found, "name": plain(name), "ended": False, "changes": False, "blocks": False,
            "beside": next((one["due"] for one in self.running()), None), "late": self.returned,
            "early": found is None and all((tensor == EARLY).all() for tensor in given.values()),
            "over": name == "checkpoint" and self.good is not None,
            "behind": self.good if self.files.get("checkpoint") != (True, self.good) else None,
            "fails": (step if found is None else found) in self.fails,
        }  # fmt: skip
        self.files[name] = (False, step)
        self.writes.append(write)
        self.changed.notify_all()
        return write

    def lasts(self, write: Evidence) -> None:
        """A slow write lasts until the next checkpoint is due or the training has ended, and somewhat longer."""
        until = min(write["due"] + self.every, self.steps)
        if threading.current_thread() is self.thread:
            write["blocks"] = self.made < self.steps
        elif self.dice.random() < self.slow:
            if not self.waits(lambda: self.made >= until or self.returned) and self.made < until:
                write["blocks"] = True
            self.waits(lambda: self.returned or len(self.running()) > 1, LINGER)

    def ends(self, write: Evidence, before: Tensors, given: Any) -> None:
        write["ended"], write["in_time"] = True, not self.returned
        write["changes"] = any(not torch.equal(before[name], tensor) for name, tensor in given.items())
        if not write["fails"]:
            self.good = write["due"] if write["has"] is None else write["has"]
            self.files[write["name"]] = (True, self.good)
        self.restored()
        self.changed.notify_all()

    def step_of(self, given: Tensors) -> int | None:
        """The step after which the state was this; the latest, where there are several."""
        same = (
            n for n, state in enumerate(self.states) if all(torch.equal(state[name], given[name]) for name in state)
        )
        return max(same, default=None)

    def misfit(self, given: Any) -> str:
        """What is wrong with the form of what is given, if anything."""
        if not isinstance(given, dict) or not all(isinstance(one, Tensor) for one in given.values()):
            return f"something of the type {type(given).__name__} that is no dict of tensors"
        if set(given) != set(self.tensors):
            return f"tensors with the names {sorted(map(str, given))!r:.80}"
        forms = ((name, given[name], tensor) for name, tensor in self.tensors.items())
        other = [name for name, a, b in forms if a.dtype != b.dtype or a.shape != b.shape]
        return f"another shape or type of {other[0]!r}" if other else ""


class Disk:
    """Files by name. ``write`` takes long, and may fail; ``rename`` takes no time."""

    def __init__(self, training: Training) -> None:
        self._training, self.misfit = training, ""

    def write(self, name: str, copy: Any) -> None:
        training = self._training
        given = unwatched(copy)
        with training.changed:
            misfit = training.misfit(given)
            if misfit or not isinstance(name, str):
                self.misfit = misfit or f"the name {name!r:.40}"
                raise TypeError(f"disk.write(name, copy) got {self.misfit}")
            write = training.begins(name, given)
            before = {key: tensor.clone() for key, tensor in given.items()}
            training.lasts(write)
            training.ends(write, before, given)
        if write["fails"]:
            raise DiskFull("no space left on the disk")

    def rename(self, old: str, new: str) -> None:
        training = self._training
        with training.changed:
            there, had = old in training.files, training.files.get(new)
            whole, step = training.files.pop(old, (False, None))
            training.renames.append({
                "old": plain(old), "new": plain(new), "there": there, "whole": whole, "step": step,
                "away": old == "checkpoint" and new != old and training.good is not None,
                "replaces": had is not None and had[0],
            })  # fmt: skip
            if not there:
                raise FileNotFoundError(f"there is no file {old!r} to be renamed")
            training.files[new] = (whole, step)


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    steps, every, fails, slow, seed = arguments
    before = set(threading.enumerate())
    training = Training(fn, steps, every, fails, slow, seed)
    disk, given = Disk(training), watched(training.tensors, training.is_read)
    names, raised, returned = dict(given), False, None
    try:
        returned = fn(training.step, given, steps, every, disk)
    except DiskFull:
        raised = True
    finally:
        with training.changed:
            left = [write["due"] for write in training.running()]
            training.returned = True
            training.changed.notify_all()
    for thread in set(threading.enumerate()) - before:
        thread.join(IMPATIENT if fn in IN_VAIN else ENDING)
    alive = len(set(threading.enumerate()) - before)
    if alive:
        IN_VAIN.add(fn)
    with training.changed:
        training.restored()
        kept = list(given) == list(names) and all(given[name] is names[name] for name in names)
        kept = kept and training.step_of(training.tensors) == training.made
        return {
            "raised": raised, "returned": plain(returned), "is list": isinstance(returned, list),
            "type": type(returned).__name__, "left": left, "misfit": disk.misfit, "made": training.made,
            "elsewhere": training.elsewhere, "writes": training.writes, "renames": training.renames,
            "idle": training.idle, "renamed late": training.late, "kept": kept, "alive": alive,
            "at the end": list(training.files.get("checkpoint", (False, None))),
        }  # fmt: skip


def facts(steps: int, every: int, fails: tuple[int, ...], slow: float, seed: int, answer: Any) -> Evidence:
    dues = list(range(every, steps + 1, every))
    writes, renames = answer["writes"], answer["renames"]
    has = [write["has"] for write in writes]
    good = [step for step in dues if step not in fails]
    whole, at_end = answer["at the end"]
    holds = f"has the state after step {at_end}" if whole else "is not whole"
    in_time = [write for write in writes if not write["late"]]

    def first(of: list[Evidence], key: str) -> Evidence | None:
        return next((one for one in of if one[key]), None)

    other = [w for w in writes if w["has"] is not None and w["has"] not in dues]
    known = [write for write in writes if not write["early"]]
    moved = [one for one in renames if one["new"] == "checkpoint" and one["there"]]
    return {
        **answer, "steps": steps, "expected": len(dues), "failed": [step for step in dues if step in fails],
        "beside": next((write for write in writes if write["beside"] is not None), None),
        "early": first(writes, "early"), "changes": first(known, "changes"),
        "later": next((w for w in other if w["has"] > w["due"]), None), "step": other[0] if other else None,
        "dues": ", ".join(map(str, dues[:3])) or "none", "every": every,
        "mixed": next((w for w in known if w["has"] is None), None),
        "again": next((step for n, step in enumerate(has) if step is not None and step in has[:n]), None),
        "missing": next((due for due in dues if due not in has), None), "begun": len(in_time),
        "blocks": first(writes, "blocks"), "over": first(writes, "over"), "away": first(renames, "away"),
        "part": next((one for one in moved if not one["whole"]), None),
        "lost": next((one for one in renames if not one["there"]), None),
        "behind": next((w for w in writes if w["behind"] is not None), None),
        "whole": whole, "at end": at_end, "last": good[-1] if good else None,
        "stands": not good or (whole and at_end == good[-1]),
        "holds": "is not there" if at_end is None else holds,
    }  # fmt: skip
