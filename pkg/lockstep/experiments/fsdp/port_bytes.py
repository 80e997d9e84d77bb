"""Bytes that a rank sends, from a trace, if every collective is a ring: no algorithm sends fewer.

    all-reduce of n bytes                             2·(K-1)/K·n
    reduce-scatter of n bytes, all-gather of n bytes    (K-1)/K·n each: an all-reduce is one after the other

n is ``Event.nbytes``: the whole tensor, on every rank. Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce
algorithms for clusters of workstations", JPDC 2009, section 3.
"""

from __future__ import annotations

from lockstep.events import Event, Trace

TIMES = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}


def through_a_port(trace: Trace, rank: int = 0) -> float:
    """Bytes that ``rank`` sends in its collectives. Messages to one rank, and barriers, are not counted."""
    return sum(map(_sent, trace.of_rank(rank)))


def _sent(event: Event) -> float:
    ranks = len(event.group) or 1
    return TIMES.get(event.kind, 0) * (ranks - 1) / ranks * event.nbytes
