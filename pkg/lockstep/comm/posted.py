"""The operations that the calling rank has posted so far, in whichever world it runs. A run says where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.comm.operation import Operation
from lockstep.errors import UsageError

_log: Sequence[Operation] | None = None
_rank: Callable[[], int | None]


def provide(log: Sequence[Operation], rank: Callable[[], int | None]) -> None:
    """Let this process read ``log``, which grows, and may have other ranks' operations. ``rank``: the calling one."""
    global _log, _rank
    _log, _rank = log, rank


def so_far() -> int:
    """A position in the log, for ``since``. Raises UsageError outside of a run."""
    return len(_posted())


def since(position: int) -> list[Operation]:
    """What the calling rank has posted since then."""
    me = _rank()
    return [o for o in _posted()[position:] if o.rank == me]


def _posted() -> Sequence[Operation]:
    if _log is None:
        raise UsageError("Only a rank posts operations.", "Call this in a function that runs on ranks.")
    return _log
