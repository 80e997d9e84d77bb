"""Which reduction a collective asks for: SUM here and MAX there is a mismatch that no byte tells.

The operators of c10d carry it in an object that Python cannot open. So it is noted on the way there, in the methods of
ProcessGroup, which torch.distributed calls in the thread that meets the operator a moment later. What C++ calls by
itself (the reducer of DDP) does not pass here: its reduction stays unknown, "", and fits any other.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch.distributed as dist


class Reductions:
    """Within it, ``of(given)`` is the reduction of the operator that the calling thread carries out."""

    def __init__(self) -> None:
        self._local = threading.local()

    def __enter__(self) -> Reductions:
        names = [n for n in vars(dist.ProcessGroup) if "reduce" in n and not n.startswith("__")]
        self._originals = {n: vars(dist.ProcessGroup)[n] for n in names}  # by getattr they would lose their class
        for name in names:
            setattr(dist.ProcessGroup, name, self._noting(getattr(dist.ProcessGroup, name)))
        return self

    def __exit__(self, *error: Any) -> None:
        for name, original in self._originals.items():
            setattr(dist.ProcessGroup, name, original)

    def of(self, given: dict[str, Any]) -> str:
        """``given``: the operator's arguments. "SUM", "MAX", ...; "" when there is none, or it is not known."""
        asked = given.get("reduce_op")
        if isinstance(asked, str):  # functional collectives say it
            return asked.upper()
        noted: str = getattr(self._local, "name", "")
        return noted if asked is not None else ""

    def _noting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def method(*args: Any, **kwargs: Any) -> Any:
            self._local.name = next(filter(None, map(name_of, (*args[1:], *kwargs.values()))), "")
            try:
                return original(*args, **kwargs)
            finally:
                self._local.name = ""

        return method


def name_of(argument: Any) -> str:
    """Of an options object, or of the reduction itself; "" for anything else."""
    operator = getattr(argument, "reduceOp", argument)
    if not isinstance(operator, (dist.ReduceOp, dist.ReduceOp.RedOpType)):
        return ""
    return str(getattr(operator, "op", operator)).rsplit(".", 1)[-1]
