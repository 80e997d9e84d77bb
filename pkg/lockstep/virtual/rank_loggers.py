"""``logging`` for each rank: handlers and levels that one sets, no other one sees, as in separate processes.

A logger is one object for all ranks, as modules hold it. What is set on it is looked up for the calling thread's rank,
which begins with what the process had set::

    rank 0 ──basicConfig(level=INFO)──▶ root.level, root.handlers of rank 0
    rank 1 ──basicConfig(level=ERROR)─▶ root.level, root.handlers of rank 1
"""

from __future__ import annotations

import copy
import logging
from typing import Any

from lockstep.virtual.rank_threads import owner

SET = ("level", "propagate", "disabled", "handlers", "filters", "_cache")


class ByRank:
    """An attribute of loggers that has a value for each rank, in the logger's ``__dict__``. The value for threads of no
    rank is there under the attribute's own name, as it was before."""

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, logger: Any, _: type | None = None) -> Any:
        if logger is None:
            return self
        rank, kept = owner(), vars(logger)
        if rank is None:
            return kept[self._name]
        own = f"{self._name} of rank {rank}"
        if own not in kept:
            kept[own] = {} if self._name == "_cache" else copy.copy(kept[self._name])
        return kept[own]

    def __set__(self, logger: Any, value: Any) -> None:
        rank, kept = owner(), vars(logger)
        if rank is None:
            kept[self._name] = value
            return
        kept.setdefault(self._name, copy.copy(value))  # a new logger, which other ranks will find as it is now
        kept[f"{self._name} of rank {rank}"] = value


def install() -> None:
    """Once, in a process of a virtual cluster."""
    for name in SET:
        by_rank = ByRank()
        by_rank.__set_name__(logging.Logger, name)
        setattr(logging.Logger, name, by_rank)
