"""Threads that a rank starts: to load data, say.

They belong to the rank: what they print is tagged, they read its environment, draw from its random numbers and know its
process groups; the tensors that they make are booked. But they run whenever the host lets them, whoever has the baton.
So their clock and their ``sleep`` are real, what they compute takes no virtual time, and they may not communicate: when
they would is not the rank's to say, and no two runs would be the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from torch.distributed import distributed_c10d
from torch.utils._python_dispatch import TorchDispatchMode

from lockstep import places
from lockstep.errors import Exit, RankRaised, RankState, UsageError
from lockstep.places import Place
from lockstep.residency import Residency
from lockstep.virtual import rank
from lockstep.virtual.protocol import Simulator
from lockstep.virtual.random_streams import draws


class Books(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps book of the tensors that a thread makes. ``claim``: as of the Clock."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """As for the Clock."""
        return False

    def __init__(self, residency: Residency, claim: Callable[[], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._residency, self._claim = residency, claim

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if draws(func):
            self._claim()
        out = func(*args, **(kwargs or {}))
        self._residency.see(func, args, out)
        return out


def belonging(simulation: Simulator, residency: Residency, me: int) -> AbstractContextManager[None]:
    """What is in force in a thread that rank ``me`` starts. Called by the thread that starts it."""
    groups = dict(vars(distributed_c10d._world))

    @contextmanager
    def inside() -> Iterator[None]:
        rank.belong(me, simulation)
        vars(distributed_c10d._world).update(groups)
        with Books(residency, partial(simulation.streams.claim, me)):
            yield

    return inside()


def refusal(me: int, stands: Place, others: Sequence[RankState]) -> RankRaised:
    """A thread that rank ``me`` has started communicates. ``stands``: the rank's own line; ``others``: other ranks."""
    place, name = places.here(), threading.current_thread().name
    place = place if place.file else stands
    told = f"rank {me} communicates in a thread that it has started ({name})."
    remedy = (
        "On the virtual cluster only a rank's own thread may: post the operation there, with isend, irecv or "
        'async_op=True, and let the thread do the rest. Or run it on processes: on="processes".'
    )
    mine = RankState(me, "raised", where=str(place), source=place.source, detail="UsageError")
    end = Exit(me, "raised", "UsageError", "lockstep", place, message=told, module=UsageError.__module__)
    return RankRaised(told, [mine, *others], remedy=remedy, exit=end)
