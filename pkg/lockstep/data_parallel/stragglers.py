"""Stragglers, and backup workers against them.

A synchronous step takes as long as its slowest machine, and the more machines there are, the slower is the slowest.
With b backup workers a step does not wait for the last b: it uses the first N - b gradients and drops the others. The
number of gradients used per second tells which b is best.

Source: J. Chen, X. Pan, R. Monga, S. Bengio and R. Jozefowicz, Revisiting Distributed Synchronous SGD, 2016,
arXiv:1604.00981.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.events import Event, Trace
from lockstep.tables import Table

Seconds = Sequence[Sequence[float]]  # [t][m]: what machine m took in step t
Gradient = Callable[[Tensor, int], Tensor]  # of the parameters, for the worker's step of that number


def backup_workers(seconds: Seconds) -> int:
    """The number of backup workers that maximises the gradients used per second; of several such the smallest."""
    return max(range(len(seconds[0])), key=lambda backups: gradients_per_second(seconds, backups))


def gradients_per_second(seconds: Seconds, backups: int) -> float:
    """Gradients used per second over all steps, each of which ends when all but the slowest ``backups`` machines are
    done."""
    used = len(seconds[0]) - backups
    return len(seconds) * used / math.fsum(sorted(step)[used - 1] for step in seconds)


def drawn_seconds(machines: int = 50, steps: int = 200, seed: int = 0) -> list[list[float]]:
    """Random times: about 1 s for each machine and step, and in one case of fifty up to 4 s longer."""
    draw = random.Random(seed)
    late = [[draw.uniform(0, 4) if draw.random() < 0.02 else 0.0 for _ in range(machines)] for _ in range(steps)]
    return [[draw.uniform(0.95, 1.05) + more for more in step] for step in late]


def backup_table(seconds: Seconds | None = None, most: int = 8) -> Table:
    """The throughput with 0, 1, 2 ... ``most`` backup workers, for these seconds or by default ``drawn_seconds()``."""
    seconds = seconds or drawn_seconds()
    N, T, best = len(seconds[0]), len(seconds), backup_workers(seconds)
    rows = []
    for b in sorted({*range(min(N, most + 1)), best}):
        rate = gradients_per_second(seconds, b)
        rows.append([str(b), str(N - b), f"{(N - b) / rate:.2f} s", f"{rate:.1f}", "the most" if b == best else ""])
    caption = f"{N} machines, {T} steps: with {best} backup workers most gradients a second are used."
    return Table(caption, ["backup workers", "gradients a step", "a step takes", "gradients a second", ""], rows)


def train_with_backups(
    gradient: Gradient, w: Tensor, steps: int, rate: float, backups: int
) -> tuple[Tensor, list[int]]:
    """SGD with workers on all ranks but 0, which has the parameters: a step ends with the gradients of all workers but
    ``backups``. Returns the parameters after ``steps`` steps, and on rank 0 how many gradients of each rank it used."""
    if dist.get_rank() == 0:
        return _serve(w, steps, rate, backups)
    return _work(gradient, w, steps), []


def _serve(w: Tensor, steps: int, rate: float, backups: int) -> tuple[Tensor, list[int]]:
    ranks = dist.get_world_size()
    used, message = [0] * ranks, torch.empty(w.numel() + 1, dtype=w.dtype)  # the step that it belongs to; a gradient
    for step in range(steps):
        total, waiting = torch.zeros_like(w), list[int]()
        while len(waiting) < ranks - 1 - backups:
            source = dist.recv(message)  # from any rank
            if message[0] == step:
                total += message[1:].view_as(w)
                waiting.append(source)
                used[source] += 1
            else:  # too late: dropped, and its worker continues with the current parameters
                dist.send(_packed(step, w), source)
        w = w - rate * total / len(waiting)
        for source in waiting:
            dist.send(_packed(step + 1, w), source)
    for _ in range(backups):
        dist.send(_packed(steps, w), dist.recv(message))
    return w, used


def _work(gradient: Gradient, w: Tensor, steps: int) -> Tensor:
    step, message = 0, torch.empty(w.numel() + 1, dtype=w.dtype)
    while step < steps:
        dist.send(_packed(step, gradient(w, step)), 0)
        dist.recv(message, 0)
        step, w = int(message[0]), message[1:].view_as(w).clone()
    return w


def _packed(step: int, values: Tensor) -> Tensor:
    return torch.cat([torch.tensor([step], dtype=values.dtype), values.flatten()])


def find_straggler(trace: Trace) -> int:
    """The rank for which the others wait longest, over all all-reduces together; of equals the first."""
    seconds = waited_for(trace)
    return seconds.index(max(seconds))


def waited_for(trace: Trace) -> list[float]:
    """For each rank, the total seconds that the others waited in all-reduces to which it came last."""
    meetings: dict[int | None, list[Event]] = {}
    for event in trace.of_kind("all_reduce"):
        meetings.setdefault(event.message, []).append(event)
    seconds = [0.0] * trace.ranks
    for events in meetings.values():
        last = max(events, key=lambda event: event.posted)
        seconds[last.rank] += math.fsum(last.posted - event.posted for event in events)
    return seconds
