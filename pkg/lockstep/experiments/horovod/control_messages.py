"""Control messages of a run, all messages but those of the tensors, and their bytes: counted from a trace.

For K ranks in a group, by the least that a collective needs when each message has one sender and one receiver:

    send                              1
    gather, scatter, broadcast, reduce    K - 1
    all_reduce, barrier               2(K - 1)       to one rank and back
    all_gather, all_to_all, reduce_scatter    K(K - 1)    each to each

``gather_object`` and ``broadcast_object_list`` are two collectives each: of lengths, 8 bytes for each object, and of
pickled objects. So are Horovod's: MPI_Gather and MPI_Gatherv, two times MPI_Bcast (horovod/common/mpi/
mpi_controller.cc). Lengths and flags are left out where messages are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lockstep.events import COLLECTIVES, Event

FLAGS = 32  # bytes: lengths, numbers, "I am done"
EACH_TO_EACH = ("all_gather", "all_to_all", "reduce_scatter")
THERE_AND_BACK = ("all_reduce", "barrier")


def control(events: Iterable[Event], tensors: Collection[int]) -> list[Event]:
    """The control messages: each message once, by its send, and each collective once, by the part of its group's first
    rank; without the all-reduces of as many bytes as one of the ``tensors`` has."""
    return [
        event
        for event in events
        if event.kind == "send" or (event.kind in COLLECTIVES and event.rank == event.group[0])
        if not (event.kind == "all_reduce" and event.nbytes in tensors)
    ]


def own_bytes(event: Event) -> int:
    """The bytes that one rank contributes to the event, or receives by it."""
    of_all = event.kind in EACH_TO_EACH or (event.kind in ("gather", "scatter") and event.peer == event.rank)
    return event.nbytes // (len(event.group) if of_all else 1)


def messages(event: Event) -> int:
    """The number of messages, as in the table above; 0 for an event that carries no more than flags."""
    K = len(event.group)
    if own_bytes(event) <= FLAGS:
        return 0
    if event.kind == "send":
        return 1
    return (K - 1) * (K if event.kind in EACH_TO_EACH else 2 if event.kind in THERE_AND_BACK else 1)
