"""The store of all ranks: what one leaves there under a key, the others find.

torch's own waits for a key in C++: the rank that is to leave it would never get the baton. Here a rank that waits lets
virtual time pass, in pauses that grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from torch.distributed import Store  # type: ignore[attr-defined]

if TYPE_CHECKING:
    from lockstep.virtual.simulation import Simulation

FIRST_PAUSE = 1e-6  # virtual seconds
GROWTH = 1.1


class RankStore(Store):
    """The store of ``simulation`` as rank ``me`` uses it."""

    def __init__(self, simulation: Simulation, me: int) -> None:
        super().__init__()
        self._simulation, self._me, self._shared = simulation, me, simulation.store

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Until all ``keys`` are there. Raises TimeoutError after ``timeout`` of virtual time, or the store's own."""
        left, pause = (timeout or self.timeout).total_seconds(), FIRST_PAUSE  # type: ignore[attr-defined]
        while not self.check(keys):
            if left <= 0:
                raise TimeoutError(f"no rank has left anything in the store under {', '.join(keys)}")
            self._simulation.sleep(self._me, pause)
            left, pause = left - pause, GROWTH * pause

    def get(self, key: str) -> bytes:
        self.wait([key])
        value: bytes = self._shared.get(key)
        return value

    def set(self, key: str, value: str) -> None:
        self._shared.set(key, value)

    def compare_set(self, key: str, expected: str, desired: str) -> bytes:
        found: bytes = self._shared.compare_set(key, expected, desired)
        return found

    def add(self, key: str, amount: int) -> int:
        return int(self._shared.add(key, amount))

    def check(self, keys: Sequence[str]) -> bool:
        return bool(self._shared.check(list(keys)))

    def delete_key(self, key: str) -> bool:
        return bool(self._shared.delete_key(key))

    def num_keys(self) -> int:
        return int(self._shared.num_keys())

    def clone(self) -> RankStore:
        """For a new group. Itself: C++ would forget the Python half of another one."""
        return self

    getNumKeys, deleteKey = num_keys, delete_key  # as torch's C++ calls them
