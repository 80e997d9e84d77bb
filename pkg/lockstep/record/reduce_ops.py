"""The reduction of a collective (SUM, MAX ...), to detect ranks that disagree on it.

c10d's operators take it as an object that Python cannot inspect. So it is recorded earlier, in the methods of
ProcessGroup, which torch.distributed calls in the same thread just before the operator. Calls from C++ (the reducer of
DDP) do not pass through them: their reduction is unknown, "", which matches any other.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch.distributed as dist


class Reductions:
    """A context in which ``of(given)`` returns the reduction of the operator that the calling thread executes."""

    def __init__(self) -> None:
        self._local = threading.local()

    def __enter__(self) -> Reductions:
        names = [n for n in vars(dist.ProcessGroup) if "reduce" in n and not n.startswith("__")]
        self._originals = {n: vars(dist.ProcessGroup)[n] for n in names}  # getattr would unwrap them
        for name in names:
            setattr(dist.ProcessGroup, name, self._noting(getattr(dist.ProcessGroup, name)))
        return self

    def __exit__(self, *error: Any) -> None:
        for name, original in self._originals.items():
            setattr(dist.ProcessGroup, name, original)

    def of(self, given: dict[str, Any]) -> str:
        """The reduction's name, "SUM" ...; "" if there is none, or it is unknown. ``given``: arguments by name."""
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
    """The name of a reduction, given itself or in an options object; "" for anything else."""
    operator = getattr(argument, "reduceOp", argument)
    if not isinstance(operator, (dist.ReduceOp, dist.ReduceOp.RedOpType)):
        return ""
    return str(getattr(operator, "op", operator)).rsplit(".", 1)[-1]
