"""The random numbers of each rank, although all share a process.

``random`` and ``numpy.random`` have a stream for each rank (rank.py leads a call to the caller's). torch has one
default generator, which C++ draws from. Its state (5 kB) changes hands, but only when a rank is about to use it:

    an operation that draws          the Clock sees it first, and claims the generator for its rank
    torch.manual_seed and its kin    claim it first
    the generator itself             may be used unseen: once a rank has got hold of it (``g = torch.manual_seed(0)``,
                                     ``torch.default_generator``), it changes hands whenever the baton does
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch._C import _DisableTorchDispatch

from lockstep.launch.job import seed_rank

SEEDING = ("manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state")
SEEN = ("aten", "c10d", "_c10d_functional", "profiler")  # namespaces whose operations say by a tag that they draw


class Streams:
    """The random streams and the default dtype of each rank. A rank's first torch numbers are those of ``seed`` plus
    rank, as in all worlds."""

    def __init__(self, ranks: int, seed: int) -> None:
        self._random = [random.Random(seed + r) for r in range(ranks)]
        self._numpy = [numpy.random.RandomState((seed + r) % 2**32) for r in range(ranks)]
        self._dtype = [torch.get_default_dtype()] * ranks
        self._running = self._owner = 0
        self._generator = torch.default_generator
        self._states = [self._first_state(seed, r) for r in range(ranks)]
        self._generator.set_state(self._states[0])
        self._references: int | None = None  # to the generator, before a rank was given one that it may keep
        self._held = False

    def _first_state(self, seed: int, rank: int) -> torch.Tensor:
        seed_rank(seed, rank)
        return self._generator.get_state()

    def switch_to(self, rank: int) -> None:
        """The baton has passed: torch's default dtype changes hands."""
        dtype = torch.get_default_dtype()
        self._dtype[self._running] = dtype
        if self._dtype[rank] != dtype:
            torch.set_default_dtype(self._dtype[rank])
        self._running = rank
        if self._references is not None:
            self._held = self._held or sys.getrefcount(self._generator) > self._references
            self._references = None
        if self._held:
            self.claim(rank)

    def claim(self, rank: int) -> None:
        """``rank`` is about to use torch's generator."""
        if rank == self._owner:
            return
        with _DisableTorchDispatch():
            self._states[self._owner] = self._generator.get_state()
            self._generator.set_state(self._states[rank])
        self._owner = rank

    def random_of(self, rank: int) -> random.Random:
        return self._random[rank]

    def numpy_of(self, rank: int) -> numpy.random.RandomState:
        return self._numpy[rank]

    def watch_torch(self, current: Callable[[], int | None]) -> None:
        """From now on torch's own functions claim the generator for ``current()``, where that is a rank."""

        def claiming(real: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(real)
            def call(*args: Any, **kwargs: Any) -> Any:
                if (rank := current()) is not None:
                    self.claim(rank)
                    self._references = sys.getrefcount(self._generator)
                return real(*args, **kwargs)

            return call

        for name in SEEDING:
            wrapped = claiming(getattr(torch.random, name))
            for module in (torch, torch.random):
                setattr(module, name, wrapped)
        self._watch_generator(current)

    def _watch_generator(self, current: Callable[[], int | None]) -> None:
        """Let ``torch.default_generator`` ask ``torch.__getattr__``, and that find out for whom."""
        others = torch.__getattr__

        def find(name: str) -> Any:
            if name != "default_generator":
                return others(name)
            if (rank := current()) is not None:
                self.claim(rank)
                self._held = True
            return self._generator

        del torch.default_generator
        setattr(torch, "__getattr__", find)  # noqa: B010


def draws(func: Any) -> bool:
    """Whether an operation of torch may draw from the default generator; what others wrote may do anything."""
    return func.namespace not in SEEN or torch.Tag.nondeterministic_seeded in func.tags
