"""Traces to draw."""

from __future__ import annotations

from lockstep.events import Event, Trace


def ring_trace(ranks: int, nbytes: int = 1024, alpha: float = 1e-5, beta: float = 1e-9) -> Trace:
    """What a ring all-reduce looks like on a cluster: all ranks start together, every round lasts alpha + n·beta."""
    events = [Event(r, "compute", 0.0, 2e-5, name="mm", where="Cell In[3], line 2") for r in range(ranks)]
    last = 2e-5
    for t in range(2 * (ranks - 1)):
        start, end = last, last + alpha + nbytes * beta
        for r in range(ranks):
            peer, message = (r + 1) % ranks, t * ranks + r
            where = "Cell In[3], line 7, in ring"
            events.append(Event(r, "send", start, end, nbytes, peer, message=message, where=where))
            events.append(Event(peer, "recv", start, end, nbytes, r, message=message, wait=end - start))
        last = end
    return Trace.of(events, ranks, "virtual", "dgx-a100")
