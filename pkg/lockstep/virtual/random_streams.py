"""Random number streams: one per rank for ``random``, NumPy and torch, although all ranks share a process.

``random`` and ``numpy.random`` have a stream for each rank (``rank_threads`` routes each call to its rank's). torch has
one default generator, which C++ draws from. Its state (5 kB) is exchanged only when another rank is about to use it:

    an operation that draws          the Clock sees it first, and claims the generator for its rank
    torch.manual_seed and the like   claim it first
    the generator itself             may be used unseen: once a rank holds a reference (``g = torch.manual_seed(0)``,
                                     ``torch.default_generator``), the state is exchanged with every switch of ranks
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
SEEN = ("aten", "c10d", "_c10d_functional", "profiler")  # namespaces whose operations are tagged if they draw


class Streams:
    """The random streams and the default dtype of each rank. Rank r is seeded with ``seed + r``, as in all worlds."""

    def __init__(self, ranks: int, seed: int) -> None:
        self._random = [random.Random(seed + r) for r in range(ranks)]
        self._numpy = [numpy.random.RandomState((seed + r) % 2**32) for r in range(ranks)]
        self._dtype = [torch.get_default_dtype()] * ranks
        self._running = self._owner = 0
        self._generator = torch.default_generator
        self._states = [self._first_state(seed, r) for r in range(ranks)]
        self._generator.set_state(self._states[0])
        self._references: int | None = None  # to the generator, before it was returned to a rank that may keep it
        self._held = False

    def _first_state(self, seed: int, rank: int) -> torch.Tensor:
        seed_rank(seed, rank)
        return self._generator.get_state()

    def switch_to(self, rank: int) -> None:
        """The baton has passed to ``rank``: set its default dtype, and its generator state if one is held."""
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
        """``rank`` is about to use torch's generator: load its state."""
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
        """Let torch's functions for seeding claim the generator for the rank ``current()``, if there is one."""

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
        """Make ``torch.default_generator`` a lookup by ``torch.__getattr__``, which claims it for the calling rank."""
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
    """Whether an operation may draw from the default generator. Operations from outside torch are assumed to."""
    return func.namespace not in SEEN or torch.Tag.nondeterministic_seeded in func.tags
