"""The messages of failed runs: deadlock (a cycle in the wait-for graph), mismatch, unmatched message, stuck rank.

They are made from the states of the ranks, and are the same in every world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from lockstep.errors import Deadlock, Mismatch, RankState, Stuck, Unmatched
from lockstep.events import Trace
from lockstep.places import NOWHERE, Place

ANY_SOURCE = -1
IN_ORDER = (
    "NCCL carries out what two ranks post to each other one after the other, in the order of posting: post a send and "
    "a receive between them together, with batch_isend_irecv, or let one of the two receive first."
)
GROUP_IN_ORDER = (
    "NCCL carries out the collectives and the batches of a group one after the other, in the order of posting: let all "
    "of its ranks post them in the same order."
)
APART = (
    "NCCL lets a message of a batch (batch_isend_irecv) and one that is posted singly never meet: post both ends in "
    "the same way."
)
UNLIKE = (
    "A send meets a receive of the same tag and group: compare these two. If each is meant for another operation, do "
    "that one first, or both at once with isend and irecv."
)
UNLIKE_IN_ORDER = UNLIKE.replace("isend and irecv", "batch_isend_irecv")  # where isend and irecv wait for each other

ALL_RECEIVE = (
    "Each of these ranks waits to receive from the next one, which has sent it nothing that fits. Look at who sends to "
    "whom: one of them has to send before it waits, or waits for what nobody sends."
)
ALL_SEND = (
    "Each of these ranks waits until the next one receives what it sends. Post the receives, too, before anybody "
    "waits: isend and irecv; or let one of the ranks receive first. If all are posted: does each rank receive from "
    "those that send to it?"
)


def wait_cycle(states: Sequence[RankState]) -> tuple[int, ...]:
    """A shortest cycle in the wait-for graph, each rank waiting for the next, from its lowest rank on; () if there is
    none.

    Cycles without a recv from any source come first: such a recv needs only one of the ranks that it waits for.
    """
    waiting = [s for s in states if s.state == "waiting"]
    return _shortest([s for s in waiting if not s.any_source]) or _shortest(waiting)


def _shortest(waiting: Sequence[RankState]) -> tuple[int, ...]:
    waits_for = {s.rank: s.waits_for for s in waiting}
    best: tuple[int, ...] = ()
    for start in sorted(waits_for):
        if len(best) in (1, 2):
            break
        found = _way_back(start, waits_for)
        if found and (not best or len(found) < len(best)):
            best = found
    return best


def _way_back(start: int, waits_for: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    """A shortest cycle through ``start``, by breadth-first search."""
    came_from: dict[int, int] = {}
    layer = [start]
    while layer:
        following = []
        for rank in layer:
            for target in waits_for.get(rank, ()):
                if target == start:
                    return _unwind(rank, start, came_from)
                if target not in came_from:
                    came_from[target] = rank
                    following.append(target)
        layer = following
    return ()


def _unwind(rank: int, start: int, came_from: dict[int, int]) -> tuple[int, ...]:
    way = [rank]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


def absentees(states: Sequence[RankState]) -> Mapping[int, tuple[int, ...]]:
    """Finished ranks that others wait for: ``{finished rank: the ranks that wait for it}``. A recv from any source
    counts only if all its possible senders have finished."""
    gone = [s.rank for s in states if s.state == "finished"]
    waiting = [s for s in states if s.state == "waiting" and not (s.any_source and set(s.waits_for) - set(gone))]
    return {r: these for r in gone if (these := tuple(s.rank for s in waiting if r in s.waits_for))}


def some(ranks: Sequence[int]) -> str:
    """ "rank 2", "ranks 0 and 1", "ranks 0, 1, 2 and 61 others"."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) > 8:
        return f"ranks {', '.join(map(str, ranks[:6]))} and {len(ranks) - 6} others"
    return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"


def deadlock(states: Sequence[RankState], trace: Trace | None = None, printed: str = "") -> Deadlock:
    """A Deadlock that names which rank waits for which."""
    gone = absentees(states)
    cycle = wait_cycle(states)
    if gone:
        rank, waiting = next(iter(gone.items()))
        verb = "waits" if len(waiting) == 1 else "wait"
        message = f"Deadlock: {some(waiting)} {verb} for rank {rank}, whose function has already returned."
        remedy = f"Let rank {rank} take part in that operation too, or let no rank wait for it."
    elif len(cycle) == 1:
        message = f"Deadlock: rank {cycle[0]} waits for itself."
        remedy = "A blocking send or recv to oneself never ends: copy the tensor instead."
    elif cycle:
        circle = ", ".join(f"rank {a} waits for rank {b}" for a, b in _pairs(cycle[:6]))
        message = f"Deadlock: {circle}{' ...' if len(cycle) > 6 else ''}."
        remedy = way_out([s for s in states if s.rank in cycle])
    else:
        stuck = [s.rank for s in states if s.state == "waiting"]
        message = f"Deadlock: {some(stuck)} wait for something that no rank does."
        remedy = "Compare the two ends: peer, tag, group and the number of operations must agree."
    return Deadlock(message, states, trace, remedy, printed)


def way_out(circle: Sequence[RankState]) -> str:
    """The remedy for a cycle of waiting ranks; "" for Deadlock's default."""
    if held := next((s for s in circle if s.behind), None):
        return GROUP_IN_ORDER if held.queue == "group" else IN_ORDER
    if sorted(s.kind for s in circle) == ["recv", "send"]:
        alike = UNLIKE_IN_ORDER if circle[0].queue else UNLIKE
        return alike if circle[0].queue == circle[1].queue else APART
    if circle[0].queue and [s.kind for s in circle] == ["send", "send"]:
        return IN_ORDER
    kinds = {s.kind for s in circle}
    return ALL_RECEIVE if kinds == {"recv"} else ALL_SEND if kinds == {"send"} else ""


def _pairs(cycle: Sequence[int]) -> list[tuple[int, int]]:
    return [(a, cycle[(i + 1) % len(cycle)]) for i, a in enumerate(cycle)]


def spelled(kind: str, peer: int | None, tag: int, group: Sequence[int]) -> str:
    """An operation as the learner would write it."""
    tagged = f", tag={tag}" if tag else ""
    if kind == "send":
        return f"send(dst={peer}{tagged})"
    if kind == "recv":
        return f"recv(src={'any' if peer == ANY_SOURCE else peer}{tagged})"
    root = f" with root {peer}" if peer is not None else ""
    return f"{kind}{root} on ranks {', '.join(map(str, group))}"


@cache
def dtype_name(dtype: object) -> str:
    """ "float32" for ``torch.float32``."""
    return str(dtype).removeprefix("torch.")


def member(group: Sequence[int], index: int) -> int:
    """The global rank of a group's rank ``index``. Raises ValueError for an index out of range, also for -1."""
    if not 0 <= index < len(group):
        are = f"its ranks are 0 to {len(group) - 1}" if len(group) > 1 else "its only rank is 0"
        raise ValueError(f"there is no rank {index} in this group: {are} (a ring goes on with % {len(group)})")
    return group[index]


def stopped(rank: int, place: Place = NOWHERE, states: Sequence[RankState] = ()) -> Stuck:
    """The error of a rank whose process exists but is stopped, at ``place`` if that is known."""
    at = f" at {place}: {place.source}" if place.file else ""
    remedy = (
        "Was it a line of the program, such as os.kill? Or something outside of it: kill -STOP, a debugger, Ctrl-Z? "
        "Run it again without that."
    )
    mine = RankState(rank, "stopped", where=str(place), source=place.source)
    known = [mine if s.rank == rank else s for s in states]
    return Stuck(f"Stuck: rank {rank} is stopped{at}. Its process got a SIGSTOP.", known, remedy=remedy)


POLLS = "polls"
RETURNS = "has returned, and its value is being sent back"
IDLE = 5.0  # seconds without an operation, when the time limit is reached, that count as stuck


def idle(state: RankState, seconds: float, states: Sequence[RankState] = ()) -> Stuck:
    """The error of a rank without observable progress: it computes, or polls in a loop."""
    at = f" at {state.where}" if state.where else ""
    if state.did != POLLS:
        return Stuck(f"Stuck: rank {state.rank} has done no operation for {seconds:.0f} s{at}.", states)
    told = f"Stuck: rank {state.rank} has polled {state.operation} for {seconds:.0f} s"
    remedy = (
        "Does another rank do the other end of it? And call wait() instead: on gloo, is_completed() of what irecv "
        "returns stays False until somebody waits for it."
    )
    return Stuck(f"{told}{at}.", states, remedy=remedy)


def different(kinds: Mapping[int, str], states: Sequence[RankState]) -> Mismatch:
    """The error of two ranks whose collectives do not fit. ``kinds``: ``{rank: the collective that it called}``."""
    first, other = kinds
    same = kinds[first] == kinds[other]
    what = f"{kinds[first]} with arguments that do not fit" if same else "different collectives"
    return Mismatch(f"Mismatch: ranks {first} and {other} called {what}.", sorted(states, key=lambda s: s.rank))


def ill_cut(kind: str, owner: str, piece: str, target: int, room: str, states: Sequence[RankState] = ()) -> Mismatch:
    """The error of a collective in which a piece does not have the size that its receiver expects. ``owner``: "rank 1
    has"."""
    return Mismatch(
        f"Mismatch: in {kind}, {owner} {piece} for rank {target}, which expects {room}.",
        states,
        remedy="What a rank cuts off for another one must be as large as what that one expects from it: "
        "let them tell each other the sizes first.",
    )


def different_groups(one: RankState, another: RankState) -> Mismatch:
    """The error of two ranks whose calls of new_group differ. Their operations: "new_group([0, 1])"."""
    states = sorted([one, another], key=lambda s: s.rank)
    return Mismatch(
        f"Mismatch: {some([s.rank for s in states])} called new_group with different ranks.",
        states,
        remedy="Every rank makes every group, in the same order, also those that it does not belong to. Or its members "
        "alone make it: new_group(ranks, use_local_synchronization=True).",
    )


def misfit(sender: int, sent: str, receiver: int, room: str, states: Sequence[RankState]) -> Mismatch:
    """The error of a message whose receive has another size or dtype."""
    return Mismatch(
        f"Mismatch: rank {sender} sends {sent}, rank {receiver} has room for {room}.",
        states,
        remedy="A recv needs a tensor with as many elements, of the same dtype, as the one that is sent.",
    )


def left_over(kind: str, states: Sequence[RankState]) -> Unmatched:
    """The error of operations that are still incomplete when all functions have returned. ``kind``: of the first."""
    verb = {
        "send": "sent a message that nobody received",
        "recv": "posted a receive that nobody served",
    }.get(kind, f"called {kind}, which other ranks never joined")
    more = f" ({len(states) - 1} more like it)" if len(states) > 1 else ""
    posted = [replace(s, state="computing", did="posted", waits_for=()) for s in states[:16]]
    return Unmatched(f"Unmatched: rank {states[0].rank} {verb}{more}.", posted)
