"""A block in which a rank begins no collective: what ``no_sync()`` promises, as one line of a test."""

from __future__ import annotations

from lockstep.comm import posted
from lockstep.events import POINT_TO_POINT


class no_collectives:  # as a statement reads
    """A context that raises AssertionError if the calling rank begins a collective in it, by DDP or any other code::

    with no_collectives(), model.no_sync():
        model(x).sum().backward()
    """

    def __enter__(self) -> None:
        self._before = posted.so_far()

    def __exit__(self, kind: object, *_: object) -> None:
        __tracebackhide__ = True  # pytest shows the line of the block
        found = [o for o in posted.since(self._before) if o.kind not in POINT_TO_POINT]
        if found and kind is None:
            more = f", and {len(found) - 1} more" if found[1:] else ""
            raise AssertionError(f"a collective inside no_collectives(): {found[0]} at {found[0].place}{more}")
