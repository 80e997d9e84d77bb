"""What ranks with fake GPUs do for test_device.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
import torch.distributed as dist
from fake_gpus import FAKE, FakeGpus

from lockstep.checks import rank_program
from lockstep.checks.device import HOST
from lockstep.checks.exercise import Watch
from lockstep.checks.rank_program import Act
from lockstep.checks.transport import decoded


def on_fake_gpus(
    fn: Callable[..., Any], acts: Sequence[Sequence[Act]], watch: Watch = rank_program.returned
) -> list[tuple[Any, list[Any]]]:
    """``play`` on a rank that has a GPU. (A rank of run() is a process of its own: what is set here ends with it.)"""
    rank_program.device_of_rank = lambda: torch.device(FAKE, dist.get_rank())
    backend_of = dist.ProcessGroup._get_backend  # batch_isend_irecv asks: gloo carries what fake GPUs send
    dist.ProcessGroup._get_backend = lambda group, device: backend_of(group, HOST)
    with FakeGpus():
        return left_by(fn, acts[dist.get_rank()], watch)


def left_by(fn: Callable[..., Any], acts: Sequence[Act], watch: Watch) -> list[tuple[Any, list[Any]]]:
    """What it gives and its arguments afterwards, without the memory: a GPU's and the host's are not the same."""
    return [(value, arguments) for value, arguments, _ in decoded(rank_program.play([fn], "", watch, acts))]


def on_fake_gpus_and_on_the_host(
    answers: Mapping[str, Callable[..., Any]], acts: Sequence[Sequence[Act]], watch: Watch
) -> dict[str, Any]:
    """What each of ``answers`` gives there and here, by name, for arguments that no other has changed."""
    there = {name: on_fake_gpus(fn, deepcopy(acts), watch) for name, fn in answers.items()}
    rank_program.device_of_rank = lambda: HOST
    own = acts[dist.get_rank()]
    return {name: (there[name], left_by(fn, deepcopy(own), watch)) for name, fn in answers.items()}


def where(*arguments: Any, group: Any = None) -> list[Any]:
    """The device of each tensor that this rank is given, and tensors of that device in a list in a list."""
    pair, (nested, by_name), number = arguments
    found = [str(t.device) for t in (*pair, nested[0], by_name["x"])]
    pair[0].add_(1)
    return [found, [pair[0] * 2, [nested[0] + number]]]


def made_on_the_host(tensor: torch.Tensor, group: Any = None) -> torch.Tensor:
    """Wrong on GPUs: what it receives into is in the host's memory."""
    room = torch.empty(tensor.shape)
    if dist.get_rank() == 0:
        dist.send(tensor, 1)
    elif dist.get_rank() == 1:
        dist.recv(room, 0)
    return room
