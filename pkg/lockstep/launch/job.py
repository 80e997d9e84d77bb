"""A Job: what a rank needs to run the learner's function, as plain data that can be sent to another process."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cloudpickle
import numpy
import torch

from lockstep.errors import RankRaised, UsageError
from lockstep.events import Trace
from lockstep.forking.preloaded import RARE, is_plain
from lockstep.launch import pickled
from lockstep.places import Sources

INSIDE = "LOCKSTEP_INSIDE"  # set in the environment of every rank, so that a nested run() can be rejected


@dataclass(frozen=True)
class Job:
    """A call ``fn(*args, **kwargs)`` on each of ``ranks`` ranks. It is unpickled separately by every rank, so that
    ranks share nothing and the caller's objects never change."""

    blob: bytes
    ranks: int
    seed: int = 0
    sources: Sources = field(default_factory=Sources)
    timeout: float = 60.0  # seconds of host time for the whole run
    record: bool = True
    fake: bool = False  # virtual only: tensors have shapes and no data
    strict: bool = False  # virtual only: a race is an error
    isolate: tuple[str, ...] = ()  # virtual only: installed packages that each rank imports for itself
    output_limit: int = 20_000  # characters that may be printed, all ranks together
    own: Mapping[int, bytes] | None = None  # by rank, the pickle of one more argument, which only that rank gets
    nests: bool = False  # virtual only: the function may call run(), which the parent process then executes
    tag: str = "[rank {}] "  # what each line that a rank prints begins with
    pretend_cuda: bool = False  # virtual only: torch.cuda is a stand-in, by which tensors are on a GPU
    script: bool = False  # the function is a lockstep.scripts.Script, whose stderr is kept apart from its stdout
    alone: bool = False  # the function needs no group: each rank calls it for itself
    raw: bool = False  # the function returns bytes, which are returned as they are and never unpickled

    @classmethod
    def pack(
        cls, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], ranks: int, **options: Any
    ) -> Job:
        sources = Sources.here()
        sources.install()  # this process reports errors with the names of cells, too
        try:
            blob = cloudpickle.dumps((fn, tuple(args), dict(kwargs)))
        except Exception as error:
            raise uncopyable({"The function": fn, **named(args), **kwargs}, error) from None
        return cls(blob, ranks, sources=sources, **options)

    def unpack(self, rank: int) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """A new copy of the function and its arguments, for ``rank``."""
        fn, args, kwargs = cloudpickle.loads(self.blob)
        import_main(fn)
        return fn, args if self.own is None else (*args, cloudpickle.loads(self.own[rank])), kwargs

    def modules(self) -> Sequence[str]:
        """What the function may need of torch beyond the essential: to be loaded once, and not by every rank."""
        return () if is_plain(self.blob, self.alone) else RARE

    def of_rank(self, rank: int) -> Job:
        """The job without the data of other ranks."""
        return self if self.own is None else replace(self, own={rank: self.own[rank]})

    def blob_of(self, value: Any) -> bytes:
        """The pickle of a rank's return value. Raises TypeError if it cannot be pickled."""
        if not self.raw:
            return pickled.dumps(value)
        if type(value) is not bytes:
            raise TypeError(f"bytes were to be returned, and this is a {type(value).__name__}")
        return value

    def given_back(self, blobs: Sequence[bytes], trace: Trace, printed: str) -> list[Any]:
        """The return values of all ranks from their pickles, in the parent. Raises RankRaised, with the run's trace and
        output, for one that cannot be unpickled."""
        try:
            return list(blobs) if self.raw else [pickled.loads(blob, rank) for rank, blob in enumerate(blobs)]
        except RankRaised as error:
            error.trace, error.printed = trace, printed
            raise


def import_main(fn: Any) -> None:
    """Put the classes of the learner's notebook into ``__main__``, where object collectives look them up by name."""
    names = getattr(fn, "__globals__", {})
    main_module = sys.modules.get("__main__")
    if isinstance(main_module, types.ModuleType) and getattr(fn, "__module__", "") == "__main__":
        for name, value in names.items():
            if isinstance(value, type) and value.__module__ == "__main__":
                vars(main_module).setdefault(name, value)


def named(args: Sequence[Any]) -> dict[str, Any]:
    return {f"Argument {number} of the function": value for number, value in enumerate(args, 1)}


def uncopyable(parts: Mapping[str, Any], error: Exception) -> UsageError:
    """The UsageError for ``error``, which was raised when ``parts`` were pickled; it names the part that cannot be."""
    what = next((name for name, value in parts.items() if not _copies(value)), "The function with its arguments")
    return UsageError(
        f"{what} cannot be copied to the ranks: {error}.",
        "It holds something that lives in this process only, such as a lock, a generator or a process group: make that "
        "inside the function.",
    )


def _copies(value: Any) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True


def seed_rank(seed: int, rank: int) -> None:
    """Seed torch, numpy and random with ``seed + rank``, as in all worlds."""
    (torch.manual_seed if torch.accelerator.is_available() else torch.default_generator.manual_seed)(seed + rank)
    numpy.random.seed((seed + rank) % 2**32)
    random.seed(seed + rank)
