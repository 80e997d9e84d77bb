"""The journal of a rank: its operations as bytes, written as they happen, so that they can be read when the rank is
dead or stuck.

    (index, fields of POSTING)        a new operation
    (index, {name: value, ...})       changed fields
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from lockstep.comm import restricted_pickle
from lockstep.comm.operation import Operation

POSTING = (
    "rank", "kind", "posted", "nbytes", "peer", "group", "group_name", "tag", "place", "number", "fits", "reduction",
    "sends", "takes", "backend",
)  # fmt: skip
_posting = attrgetter(*POSTING)


def posted(index: int, operation: Operation) -> bytes:
    return pickle.dumps((index, _posting(operation)))


def changed(index: int, values: Mapping[str, Any]) -> bytes:
    return pickle.dumps((index, values))


def replay(journal: bytes) -> list[Operation]:
    """The operations in a journal; an incomplete last entry is ignored."""
    operations: list[Operation] = []
    stream = io.BytesIO(journal)
    while True:
        try:
            index, told = restricted_pickle.read(stream)
        except (EOFError, restricted_pickle.Forged, TypeError, ValueError):  # the last entry may be cut off
            return operations
        if isinstance(told, dict):
            for name, value in told.items():
                setattr(operations[index], name, value)
        else:
            operations.append(Operation(*told))
