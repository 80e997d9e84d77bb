"""How old is the w that a gradient was computed on? Read off the trace of a run with a parameter server, exactly.

    rank 0     send w to 1    send w to 2    recv g from 2    send w to 2    recv g from 2    recv g from 1
    updates        0              0                0              1                1                2
    staleness                                      0                               0                2

The server makes an update for each gradient that it receives. The w that it sends has those that it has made; the
gradient that comes back is as stale as there were others meanwhile.
"""

from __future__ import annotations

from collections import Counter

from lockstep.events import Trace


def staleness_of(trace: Trace) -> dict[int, int]:
    """{staleness: number of gradients}, for a run in which rank 0 serves: all that it sends is w, all that it receives
    are gradients. The w of a worker that sends one before it has got any is the first."""
    received, sent, found = 0, Counter[int | None](), Counter[int]()  # gradients; how many when each rank got its w
    for event in trace.of_rank(0):
        if event.kind == "send":
            sent[event.peer] = received
        elif event.kind == "recv":
            found[received - sent[event.peer]] += 1
            received += 1
    return dict(found)
