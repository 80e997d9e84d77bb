"""A tape: what one rank asks for in each instruction of a program, recorded once, to be played on any network.

    Program      an instruction after the other: a forward pass of some layers, a message, an optimizer's step
    Tape         listens to a rank of a fake run, while the rank carries them out
    Segment      of an instruction: [Compute | Post | Wait, ...], and what it did to memory

A training step of a large model carries out a few dozen *distinct* instructions, on thousands of GPUs, hundreds of
times each. Each is recorded here once, and ``players`` plays them in the order of each rank's program.

A segment holds what the rank *asked for*: seconds of computing, the bytes and the group of what it posted, and where it
waited. When it was served is not on the tape. So what was recorded with nobody else there may be played on any
network, with any number of ranks. (Events have lost where a wait stood: played from these, a rank would wait where the
*recorded* communication ended.)

The rank that records is alone, and believes in groups of others: ``Tape.group``. What it posts there is over at once.

    with recorded() as tape:
        tensor, pipeline = tape.group("tp", seat=0, size=8), tape.group("pp", seat=1, size=3)
        for instruction in program:
            tape.record(instruction, lambda: carry_out(instruction))
    return tape.segments()
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch.distributed as dist
from torch.distributed import distributed_c10d
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from lockstep import places
from lockstep.comm.operation import Operation
from lockstep.errors import UsageError
from lockstep.events import POINT_TO_POINT
from lockstep.places import Place
from lockstep.residency import Residency
from lockstep.residency.memory_timeline import bytes_alive
from lockstep.virtual.event_log import LONGEST_NAME
from lockstep.virtual.fake_simulation import FakeClock
from lockstep.virtual.process_group import VirtualGroup
from lockstep.virtual.simulator_interface import Simulator

ABSENT = 1 << 20  # the first number of ranks that are not there

Bytes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]  # by kind, in the order of MEMORY_KINDS


class Compute(NamedTuple):
    """``names``: of torch's operations, each once."""

    seconds: float
    flops: int
    names: str


class Post(NamedTuple):
    """``group``: the name of the group. ``offset``: of a message, the seat of its other end less the own one; of a
    collective with a root, the root's seat; None for others. ``fits``, ``reduction``, ``sends``, ``takes``: as of an
    Operation."""

    kind: str
    nbytes: int
    group: str
    offset: int | None
    tag: int
    fits: tuple[tuple[int, str], ...]
    reduction: str
    place: Place
    sends: tuple[int, ...] = ()
    takes: tuple[int, ...] = ()


class Wait(NamedTuple):
    """For the operation number ``n`` of the instruction ``key``: the oldest such that has not been waited for."""

    key: Hashable
    n: int


Action: TypeAlias = Compute | Post | Wait


class Held(NamedTuple):
    """What a segment does to the bytes alive, compared with its beginning."""

    change: Bytes  # at its end
    highest: Bytes  # of each kind by itself
    at_peak: Bytes  # when the total is highest


class Segment(NamedTuple):
    actions: tuple[Action, ...]
    held: Held


class Tape:
    """Records one rank. ``clock``: that of the rank."""

    def __init__(self, clock: FakeClock, simulation: Simulator) -> None:
        self._book: Residency = clock.residency
        self._book.log_limit = math.inf  # segments are parts of its log
        self._absentees = Absentees(simulation, self)
        self.rank = dist.get_rank()
        self._actions: list[Action] = []
        self._cuts: dict[Hashable, tuple[tuple[Action, ...], int, int]] = {}
        self._key: Hashable = None
        self._posted: dict[int, tuple[Operation, Hashable, int]] = {}  # by identity, until it is waited for
        self._posts = 0  # of the present instruction

    def group(self, name: str, seat: int, size: int) -> dist.ProcessGroup:
        """A group of ``size`` ranks in which this one has the seat ``seat``, and the others are not there."""
        ranks = [self.rank if at == seat else ABSENT + at for at in range(size)]
        group: Any = VirtualGroup(self._absentees, self.rank, ranks, name)
        distributed_c10d._world.pg_group_ranks[group] = {rank: at for at, rank in enumerate(ranks)}
        made: dist.ProcessGroup = group
        return made

    def record(self, key: Hashable, act: Callable[[], object]) -> None:
        """Carry out an instruction. Of those with one ``key``, which must cost the same, the first one counts."""
        self._key, self._actions, self._posts = key, [], 0
        begin = len(self._book._log)
        act()
        self._cuts.setdefault(key, (tuple(self._actions), begin, len(self._book._log)))

    def segments(self) -> dict[Hashable, Segment]:
        """What was recorded. (Of which kind a storage is, is known only at the end.)"""
        self._book.memory()
        log, kinds = self._book._log, self._book._kinds
        return {key: Segment(actions, held(log[a:b], kinds)) for key, (actions, a, b) in self._cuts.items()}

    # ---- what it hears

    def computed(self, name: str, seconds: float, flops: int) -> None:
        last = self._actions[-1] if self._actions else None
        if isinstance(last, Compute):
            names = last.names if name in last.names or len(last.names) > LONGEST_NAME else f"{last.names}, {name}"
            self._actions[-1] = Compute(last.seconds + seconds, last.flops + flops, names)
        else:
            self._actions.append(Compute(seconds, flops, name))

    def posted(self, o: Operation) -> None:
        seat, offset = o.group.index(o.rank), None if o.peer is None else o.group.index(o.peer)
        if offset is not None and o.kind in POINT_TO_POINT:
            offset = nearest(offset - seat, len(o.group))
        fits = o.fits, o.reduction, o.place, o.sends, o.takes
        self._actions.append(Post(o.kind, o.nbytes, o.group_name, offset, o.tag, *fits))
        self._posted[id(o)] = o, self._key, self._posts
        self._posts += 1

    def waited(self, o: Operation) -> None:
        if id(o) in self._posted:  # it is the first wait for it
            _, key, n = self._posted.pop(id(o))
            self._actions.append(Wait(key, n))


def nearest(offset: int, size: int) -> int:
    """The same seat, modulo ``size``, at most half of the way round: one back is -1."""
    return (offset + (size - 1) // 2) % size - (size - 1) // 2


@contextmanager
def recorded() -> Iterator[Tape]:
    """A context in which the calling rank, of a fake run, is recorded. Raises UsageError for any other."""
    clock = next((mode for mode in _get_current_dispatch_mode_stack() if isinstance(mode, FakeClock)), None)
    if clock is None:
        raise UsageError("Only ranks of a fake run are recorded.", 'Write run(..., on="dgx-a100", fake=True).')
    simulation: Any = distributed_c10d._get_default_group()
    tape = Tape(clock, simulation._simulation)
    with clock.heard_by(tape.computed):
        yield tape


def held(log: Sequence[float], kinds: Any) -> Held:
    """What a part of the book's log does to memory."""
    alive = np.concatenate([np.zeros((1, bytes_alive([], kinds).shape[1]), dtype=np.int64), bytes_alive(log, kinds)])
    return Held(alive[-1], alive.max(axis=0), alive[alive.sum(axis=1).argmax()])


class Absentees:
    """The simulation as a rank sees it that is alone in its groups (``simulator_interface.Simulator``): whatever it
    posts is over at once. ``tape`` hears of it."""

    def __init__(self, simulation: Simulator, tape: Tape) -> None:
        self.ranks, self.cluster, self.rules = simulation.ranks, simulation.cluster, simulation.rules
        self.streams, self.clock, self.flights = simulation.streams, simulation.clock, simulation.flights
        self.errands, self.withholds, self.strict = simulation.errands, simulation.withholds, simulation.strict
        self.store, self.pid = simulation.store, simulation.pid
        self._simulation, self._tape = simulation, tape

    def new_operation(
        self, me: int, kind: str, nbytes: int, peer: int | None, group: tuple[int, ...], name: str, tag: int,
        tensors: Any,
    ) -> Operation:  # fmt: skip
        return Operation(me, kind, self.clock[me], nbytes, peer, group, name, tag, places.here())

    def batch(self, me: int) -> AbstractContextManager[None]:
        return nullcontext()

    def send(self, operation: Operation) -> None:
        self._over(operation)

    def recv(self, operation: Operation) -> None:
        self._over(operation)

    def join(self, part: Operation, sequence: int, move: Callable[[list[Operation]], None]) -> None:
        self._over(part)

    def wait(self, operation: Operation, patience: Any = None) -> None:
        self._tape.waited(operation)
        operation.awaited = True

    def poll(self, operation: Operation) -> bool:
        """It is over only once it is waited for: a program that does otherwise if it is would not be on the tape."""
        return False

    def sleep(self, me: int, seconds: float) -> None:
        self._simulation.sleep(me, seconds)

    def left(self, me: int, status: int) -> None:
        self._simulation.left(me, status)

    def _over(self, operation: Operation) -> None:
        operation.tensors = None
        operation.start = operation.end = operation.posted
        self._tape.posted(operation)
