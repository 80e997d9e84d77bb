"""The happens-before order of threads without barriers: by fences and atomic operations.

    release   a fence, then an atomic operation that writes M
    acquire   an atomic operation that reads M, then a fence

What a thread did before the fence of a release happens before what another does after the fence of an acquire, if the
acquire reads what the release wrote, or what further atomic operations have made of it. ``threadfence_block`` orders
threads of one block only. (PTX ISA, "Memory Consistency Model": release and acquire patterns, causality order.)

In two cases the machine is more lenient than PTX. A barrier after the atomic operation counts as the fence of an
acquire: NVIDIA's sample threadFenceReduction has no other. And if all threads of a block execute a fence and then a
barrier, any of them may release what all have done: many programs are written like that.

There are four clocks: a thread counts its fences and its releases, a warp its syncwarps, a block its barriers.
``Known`` is a sparse vector clock: how far a thread knows each of the others (Lamport 1978; Mattern 1989). A new stamp
is made only where one of these clocks ticks, so that a kernel without fences pays nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.masks import LANES, Lanes, Mask
from lockstep.simt.memory import Memory
from lockstep.simt.profile import LineCounts
from lockstep.simt.race_detection.findings import Thread

Known = Mapping[int, int]
NOTHING: Known = {}

SLOTS = 4096  # of a block in a vector clock: its threads' fences, their releases, its warps, last itself
RELEASES, FIRST_WARP, WHOLE = 1024, 2048, 4095


class Stamp(NamedTuple):
    """The vector clocks of a warp's lanes at a time; ``number`` grows with the order of the run."""

    number: int
    fences: Sequence[int]  # of each lane
    releases: Sequence[int]
    known: Sequence[Known]


START = Stamp(0, [0] * LANES, [0] * LANES, [NOTHING] * LANES)


class Fenced(NamedTuple):
    """What came before a lane's fence: an atomic operation may release it."""

    known: Known
    fences: int
    epoch: int
    phase: int


@dataclass(eq=False)
class Chain:
    """A chain of atomic operations on one item, each of which reads what the previous one wrote.

    ``wide``: what its releases publish to all threads, ``near``: to the threads of a block. A plain store breaks the
    chain: it is noticed by the ``value``."""

    value: Any = None
    wide: Known = field(default_factory=dict)
    near: dict[int, Known] = field(default_factory=dict)


class Clock:
    """What the lanes of one warp know, what they have seen in atomic operations, and what they have fenced."""

    def __init__(self) -> None:
        self.fences = [0] * LANES
        self.releases = [0] * LANES
        self.known: list[Known] = [NOTHING] * LANES
        self.seen: list[dict[tuple[Memory, int], tuple[Known, Known]]] = [{} for _ in range(LANES)]
        self.wide: list[Fenced | None] = [None] * LANES  # by threadfence
        self.near: list[Fenced | None] = [None] * LANES  # by any fence

    def acquire(self, lane: int, wide: bool) -> None:
        """A fence after atomic operations: what they saw is known from here on."""
        for far, near in self.seen[lane].values():
            self.known[lane] = merged(self.known[lane], merged(near, far) if wide else near)
        if wide:
            self.seen[lane].clear()


class Hazards(Protocol):
    """A block's hazards, as needed here: ``phase`` counts its barriers; ``fenced``: a fence or release since the last
    one."""

    phase: int
    fenced: bool


class Block(Protocol):
    """The part of ``warp.Block`` that race detection uses."""

    @property
    def number(self) -> int: ...

    @property
    def warps(self) -> Sequence[int]: ...

    @property
    def hazards(self) -> Hazards: ...

    def thread(self, number: int) -> Thread: ...


class Warp(Protocol):
    """The part of ``warp.Warp`` that race detection uses."""

    clock: Clock | None
    stamp: Stamp

    @property
    def number(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def block(self) -> Block: ...

    @property
    def started(self) -> Mask: ...

    @property
    def thread_ids(self) -> Any: ...


class Access(NamedTuple):
    """One request of a warp; ``epoch`` counts the warp's syncwarps. One item alone means that all lanes read it."""

    items: NDArray[np.int64]
    warp: Warp
    mask: Mask
    epoch: int
    stamp: Stamp
    line: LineCounts
    write: bool
    atomic: bool
    values: Any

    def of_each_lane(self) -> NDArray[np.int64]:
        return self.items if len(self.items) == self.mask.count else np.repeat(self.items, self.mask.count)


class Moment(NamedTuple):
    """The time of an access. For all accesses of a block between two barriers, ``slot`` is the block's.

    ``releases``: of an atomic operation, how many its thread had made before."""

    slot: int
    block: int
    phase: int
    known: Known
    warp: int = 0
    epoch: int = 0
    fences: int = 0
    releases: int | None = None


def moment_of(access: Access, place: int, phase: int) -> Moment:
    """The moment of the lane that is the ``place``-th among the active ones."""
    warp, stamp, lane = access.warp, access.stamp, int(np.flatnonzero(access.mask.lanes)[place])
    block = warp.block.number
    slot = block * SLOTS + int(warp.thread_ids[lane])
    releases = stamp.releases[lane] if access.atomic else None
    return Moment(slot, block, phase, stamp.known[lane], warp.number, access.epoch, stamp.fences[lane], releases)


def before(first: Moment, second: Moment) -> bool:
    """Whether ``first`` certainly happens before ``second``, which came later in this run."""
    alone = first.slot != first.block * SLOTS + WHOLE
    if first.slot == second.slot and (alone or first.phase < second.phase):
        return True
    if first.block == second.block:
        if first.phase < second.phase:
            return True
        if alone and first.warp == second.warp and first.epoch < second.epoch:
            return True
    return _knows(second.known, first, alone)


def _knows(known: Known, first: Moment, alone: bool) -> bool:
    """A release is known together with what came before its fence."""
    own = first.block * SLOTS
    if known.get(own + WHOLE, 0) > first.phase:
        return True
    if not alone:
        return False
    if known.get(first.slot, 0) > first.fences or known.get(own + FIRST_WARP + first.warp, 0) > first.epoch:
        return True
    return first.releases is not None and known.get(first.slot + RELEASES, 0) > first.releases


def merged(one: Known, other: Known) -> Known:
    """The join of two vector clocks. Neither is changed."""
    small, large = (one, other) if len(one) < len(other) else (other, one)
    if not small or small is large:
        return large
    found = dict(large)
    for slot, time in small.items():
        if found.get(slot, 0) < time:
            found[slot] = time
    return found


class HappensBefore:
    """The happens-before order of one launch. ``used``: something was ordered by a fence; until then, nothing has to be
    checked."""

    def __init__(self) -> None:
        self.used = False
        self._numbers = itertools.count(1)
        self._chains: dict[Memory, dict[int, Chain]] = {}

    def fence(self, warp: Warp, mask: Mask, wide: bool) -> None:
        self.used = warp.block.hazards.fenced = True
        clock = _clock(warp)
        for lane in _lanes(mask.lanes):
            clock.acquire(lane, wide)
            clock.fences[lane] += 1
            fenced = Fenced(clock.known[lane], clock.fences[lane], warp.epoch, warp.block.hazards.phase)
            clock.near[lane] = fenced
            clock.wide[lane] = fenced if wide else clock.wide[lane]
        self._stamp(warp, next(self._numbers))

    def syncwarp(self, warp: Warp) -> None:
        """All lanes know what each of them knows."""
        if warp.clock is not None:
            warp.clock.known = [_union(warp.clock.known)] * LANES
            self._stamp(warp, next(self._numbers))

    def concerns(self, warp: Warp, memory: Memory) -> bool:
        """Whether an atomic operation there can release or acquire anything."""
        return self.used and (warp.clock is not None or memory in self._chains)

    def atomic(self, warp: Warp, memory: Memory, lanes: Lanes, items: Any, found: Any, wrote: Any) -> None:
        """An atomic operation of the active lanes, one after another: each sees the releases of the chain, and may add
        its own."""
        chains, clock = self._chains.setdefault(memory, {}), _clock(warp)
        touched: set[int] = set()
        released = False
        for lane, item, old, writes in zip(_lanes(lanes), items.tolist(), found, wrote, strict=True):
            if item in chains and item not in touched and chains[item].value != old:
                del chains[item]
            touched.add(item)
            if item in chains:
                chain = chains[item]
                clock.seen[lane][memory, item] = chain.wide, chain.near.get(warp.block.number, NOTHING)
            if writes and clock.near[lane] is not None:
                _release(chains.setdefault(item, Chain()), clock, warp, lane)
                released = True
        for item in touched & chains.keys():
            chains[item].value = memory.flat[item]
        if released:
            warp.block.hazards.fenced = True
            self._stamp(warp, next(self._numbers))

    def barrier(self, block: Block, warps: Sequence[Warp], phase: int) -> None:
        """A barrier: all threads know what each of them knows. Fences that all have executed become one of the
        block."""
        if all(warp.clock is None for warp in warps):
            return
        clocks = [_clock(warp) for warp in warps]
        for clock in clocks:
            for lane in range(LANES):
                clock.acquire(lane, True)
        known = _union(one for clock in clocks for one in clock.known)
        number = next(self._numbers)
        all_near, all_wide = (_all_fenced(warps, phase, wide) for wide in (False, True))
        for warp, clock in zip(warps, clocks, strict=True):
            clock.known = [known] * LANES
            together: list[Fenced | None] = [Fenced(known, count, warp.epoch + 1, phase + 1) for count in clock.fences]
            clock.near = together if all_near else clock.near
            clock.wide = together if all_wide else clock.wide
            self._stamp(warp, number)

    def _stamp(self, warp: Warp, number: int) -> None:
        clock = _clock(warp)
        warp.stamp = Stamp(number, list(clock.fences), list(clock.releases), list(clock.known))


def _clock(warp: Warp) -> Clock:
    if warp.clock is None:
        warp.clock = Clock()
    return warp.clock


def _release(chain: Chain, clock: Clock, warp: Warp, lane: int) -> None:
    near, wide, block = clock.near[lane], clock.wide[lane], warp.block.number
    clock.releases[lane] += 1
    if near is not None:
        chain.near[block] = merged(chain.near.get(block, NOTHING), _told(near, clock, warp, lane))
    if wide is not None:
        chain.wide = merged(chain.wide, _told(wide, clock, warp, lane))


def _told(fenced: Fenced, clock: Clock, warp: Warp, lane: int) -> Known:
    own = warp.block.number * SLOTS
    thread = own + int(warp.thread_ids[lane])
    times = {thread: fenced.fences, thread + RELEASES: clock.releases[lane]}
    times |= {own + FIRST_WARP + warp.number: fenced.epoch} if fenced.epoch else {}
    times |= {own + WHOLE: fenced.phase} if fenced.phase else {}
    return merged(fenced.known, times)


def _all_fenced(warps: Sequence[Warp], phase: int, wide: bool) -> bool:
    """Whether every thread has made a fence since the last barrier."""
    for warp in warps:
        made = _clock(warp).wide if wide else _clock(warp).near
        since = [fenced is not None and fenced.phase == phase for fenced in made]
        if not all(since[lane] for lane in _lanes(warp.started.lanes)):
            return False
    return True


def _union(known: Iterable[Known]) -> Known:
    found = NOTHING
    for one in {id(one): one for one in known}.values():
        found = merged(found, one)
    return found


def _lanes(lanes: Lanes) -> list[int]:
    found: list[int] = np.flatnonzero(lanes).tolist()
    return found
