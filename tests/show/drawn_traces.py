"""Traces and runs to draw."""

from __future__ import annotations

from lockstep.events import Event, Memory, Outcome, Trace


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


def sawtooth(layers: int = 3) -> Outcome:
    """Two ranks that gather a layer of 60 bytes, compute 8 s with it and let go of it, again and again."""
    events, samples = [], [(0.0, (20, 0, 40, 0, 0))]
    for layer in range(layers):
        t = 10.0 * layer
        samples += [(t, (80, 0, 40, layer, 0)), (t + 10, (20, 0, 40, layer + 1, 0))]
        events += [Event(rank, "all_gather", t, t + 2, 60, group=(0, 1)) for rank in (0, 1)]
        events += [Event(rank, "compute", t + 2, t + 10) for rank in (0, 1)]
    memory = Memory(peak=max(sum(held) for _, held in samples), samples=tuple(samples))
    return Outcome([None] * 2, Trace.of(events, 2), 10.0 * layers, [memory.peak] * 2, memory=[memory] * 2)
