"""A Job: everything a rank needs to run the learner's function, as plain bytes that travel to another process."""

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

from lockstep.errors import UsageError
from lockstep.launch import pickled
from lockstep.places import Sources

INSIDE = "LOCKSTEP_INSIDE"  # set in the environment of every rank that was started here: run() does not nest


@dataclass(frozen=True)
class Job:
    """``fn(*args, **kwargs)``, to be run on each of ``ranks`` ranks. The pickle is opened anew for every rank, so that
    ranks share nothing and the caller's objects never change."""

    blob: bytes
    ranks: int
    seed: int = 0
    sources: Sources = field(default_factory=Sources)
    timeout: float = 60.0  # seconds of host time for the whole run
    record: bool = True
    fake: bool = False  # virtual only: tensors have shapes and no data
    isolate: tuple[str, ...] = ()  # virtual only: installed packages that each rank imports for itself
    output_limit: int = 20_000  # characters that may be printed, all ranks together
    own: Mapping[int, bytes] | None = None  # by rank, the pickle of one more argument, which no other rank gets
    nests: bool = False  # virtual only: the function may call run(), which whoever starts the job then carries out
    raw: bool = False  # the function returns bytes, which come back as they are: nothing of theirs is unpickled

    @classmethod
    def pack(
        cls, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], ranks: int, **options: Any
    ) -> Job:
        sources = Sources.here()
        sources.install()  # this process, too, names cells when it explains what a rank did
        try:
            blob = cloudpickle.dumps((fn, tuple(args), dict(kwargs)))
        except Exception as error:
            raise uncopyable({"The function": fn, **named(args), **kwargs}, error) from None
        return cls(blob, ranks, sources=sources, **options)

    def unpack(self, rank: int) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """The function and its arguments, made anew for ``rank``."""
        fn, args, kwargs = cloudpickle.loads(self.blob)
        import_main(fn)
        return fn, args if self.own is None else (*args, cloudpickle.loads(self.own[rank])), kwargs

    def of_rank(self, rank: int) -> Job:
        """The job without what belongs to other ranks."""
        return self if self.own is None else replace(self, own={rank: self.own[rank]})

    def blob_of(self, value: Any) -> bytes:
        """What a rank returned, as it travels. Raises TypeError, in one sentence, if it cannot."""
        if not self.raw:
            return pickled.dumps(value)
        if type(value) is not bytes:
            raise TypeError(f"bytes were to be returned, and this is a {type(value).__name__}")
        return value

    def given_back(self, blob: bytes) -> Any:
        """What a rank returned, where it has arrived."""
        return blob if self.raw else pickled.loads(blob)


def import_main(fn: Any) -> None:
    """Classes of the learner's notebook live in ``__main__``: object collectives, which pickle by name, look there."""
    names = getattr(fn, "__globals__", {})
    main_module = sys.modules.get("__main__")
    if isinstance(main_module, types.ModuleType) and getattr(fn, "__module__", "") == "__main__":
        for name, value in names.items():
            if isinstance(value, type) and value.__module__ == "__main__":
                vars(main_module).setdefault(name, value)


def named(args: Sequence[Any]) -> dict[str, Any]:
    return {f"Argument {number} of the function": value for number, value in enumerate(args, 1)}


def uncopyable(parts: Mapping[str, Any], error: Exception) -> UsageError:
    """``error`` was raised when all of them were copied; one alone is to be blamed, if it can be found."""
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
    """Seed torch, numpy and random with ``seed + rank``: alike in all worlds."""
    (torch.manual_seed if torch.accelerator.is_available() else torch.default_generator.manual_seed)(seed + rank)
    numpy.random.seed((seed + rank) % 2**32)
    random.seed(seed + rank)
