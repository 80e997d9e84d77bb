"""The rendezvous store for ranks of one machine: torch's FileStore, polled more often.

A rank that joins a group puts its address there and waits for those of the others. FileStore polls every 10 ms, so that
joining took four ranks 20 ms, most of it asleep. Here the pauses begin short and grow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from torch.distributed import FileStore, Store  # type: ignore[attr-defined]

FIRST_PAUSE = 0.0003  # seconds
LONGEST_PAUSE = 0.01  # as FileStore: a rank that waits for ever must appear idle to the ``watchdog``
GROWTH = 1.1


class PythonStore(Store):
    """A wrapper of torch's store ``inner`` that waits in Python, as its subclass defines."""

    def __init__(self, inner: Store) -> None:
        super().__init__()
        self._inner: Any = inner

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all ``keys`` are set. Raises TimeoutError after ``timeout``, or by default the store's own."""
        raise NotImplementedError

    def seconds(self, timeout: timedelta | None) -> float:
        limit: float = (timeout or self.timeout).total_seconds()  # type: ignore[attr-defined]
        return limit

    def get(self, key: str) -> bytes:
        self.wait([key])
        value: bytes = self._inner.get(key)
        return value

    def set(self, key: str, value: str) -> None:
        self._inner.set(key, value)

    def compare_set(self, key: str, expected: str, desired: str) -> bytes:
        found: bytes = self._inner.compare_set(key, expected, desired)
        return found

    def add(self, key: str, amount: int) -> int:
        return int(self._inner.add(key, amount))

    def check(self, keys: Sequence[str]) -> bool:
        return bool(self._inner.check(list(keys)))

    def delete_key(self, key: str) -> bool:
        return bool(self._inner.delete_key(key))

    def num_keys(self) -> int:
        return int(self._inner.num_keys())

    def clone(self) -> PythonStore:
        """The store for a new group: this one, as C++ would not keep the Python part of a copy alive."""
        return self

    getNumKeys, deleteKey = num_keys, delete_key  # as torch's C++ calls them


class BriskStore(PythonStore):
    """A FileStore at ``path``, for ``ranks`` processes."""

    def __init__(self, path: str, ranks: int) -> None:
        super().__init__(FileStore(path, ranks))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        limit, pause = self.seconds(timeout), FIRST_PAUSE
        until = time.monotonic() + limit
        while not self.check(keys):
            if time.monotonic() > until:
                raise TimeoutError(f"Timed out waiting {limit:g} s for other ranks at: {', '.join(keys)}")
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, GROWTH * pause)
