"""The store of all ranks: what one leaves there under a key, the others find.

torch's own waits for a key in C++: the rank that is to leave it would never get the baton. Here a rank that waits lets
virtual time pass, in pauses that grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from lockstep.launch.store import PythonStore
from lockstep.virtual.protocol import Simulator

FIRST_PAUSE = 1e-6  # virtual seconds
GROWTH = 1.1


class RankStore(PythonStore):
    """The store of ``simulation`` as rank ``me`` uses it. The ``timeout`` of a wait is virtual time."""

    def __init__(self, simulation: Simulator, me: int) -> None:
        super().__init__(simulation.store)
        self._simulation, self._me = simulation, me

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        left, pause = self.seconds(timeout), FIRST_PAUSE
        while not self.check(keys):
            if left <= 0:
                raise TimeoutError(f"no rank has left anything in the store under {', '.join(keys)}")
            self._simulation.sleep(self._me, pause)
            left, pause = left - pause, GROWTH * pause
