"""Which transfers are under way while a block computes, in a backward pass from the last block to the first.

A trace says neither of which block a transfer is nor when a block computes. But gathers come in the order of the
blocks, and so do reduce-scatters; and the FLOPs that a rank has computed before a transfer was posted, or waited for,
say how many blocks have computed by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lockstep.checks.measured_overlap import beside
from lockstep.checks.observation import Seen
from lockstep.events import Event

Told = tuple[str, str]  # the misconception, and what to tell of the transfer


class Backward(NamedTuple):
    """Of each block, the first one first: the bytes of its whole vector, and the FLOPs of its forward and backward
    pass. ``least`` are those of block 0 without the gradient of its input, which nobody needs."""

    nbytes: Sequence[int]
    flops: Sequence[int]
    least: int

    def mistakes(self, seen: Seen, rank: int) -> Iterator[Told]:
        """What is wrong with the transfers of a rank, the first one first."""
        events = seen.trace.of_rank(rank)
        computing = [e for e in events if e.kind == "compute" and e.flops]
        gathers = [e for e in events if e.kind == "all_gather"]
        reduces = [e for e in events if e.kind == "reduce_scatter"]
        if wrong := self.out_of_order(gathers):
            yield wrong
            return
        for block, event in zip(reversed(range(len(self.flops))), gathers, strict=False):
            if block + 1 < len(self.flops):
                yield from self.hidden(event, f"the gather of block {block}", block + 1, computing)
        for block, event in zip(reversed(range(len(self.flops))), reduces, strict=False):
            if block:
                yield from self.hidden(event, f"the reduce-scatter of block {block}", block - 1, computing)

    def out_of_order(self, gathers: Sequence[Event]) -> Told | None:
        """The first gather that brings another block than the one that is needed next."""
        for needed, event in zip(reversed(range(len(self.nbytes))), gathers, strict=False):
            if event.nbytes != self.nbytes[needed] and event.nbytes in self.nbytes:
                brought = self.nbytes.index(event.nbytes)
                return "wrong-block", f"the gather of block {brought} is called where block {needed} is needed next."
        return None

    def hidden(self, event: Event, name: str, behind: int, computing: Sequence[Event]) -> Iterator[Told]:
        """Whether ``event`` is under way while block ``behind`` computes, and while no other one does."""
        done, flops = sum(self.flops[behind + 1 :]), self.flops[behind] if behind else self.least
        before, during = sum(c.flops for c in computing if c.posted < event.posted), beside(event, computing)
        reduces = event.kind == "reduce_scatter"
        if computing and before > done:
            yield "starts-too-late", f"{name} starts when block {behind} computes already, or later: call it before."
        elif computing and before < done:
            early = f"{name} starts before block {behind + 1} has computed: then three blocks are whole."
            yield "starts-too-early", early
        elif during < flops:
            which = "reduction-waits-at-once" if reduces else "waits-at-once"
            yield which, f"{name} should be under way while block {behind} computes, and is waited for before."
        elif reduces and behind and event.wait and during >= self.flops[behind] + self._of(behind - 1):
            late = f"{name} is waited for when block {behind - 1} has computed, too: wait when block {behind} has."
            yield "reduction-waits-too-long", late

    def _of(self, block: int) -> int:
        return self.flops[block] if block else self.least


def seconds_hidden(seen: Seen) -> float:
    """Virtual microseconds for which a rank computes while something of its own is under way; of the rank with the
    fewest."""
    return 1e6 * min(_hidden(seen.trace.of_rank(rank)) for rank in seen.case.members)


def _hidden(events: Sequence[Event]) -> float:
    moving = [e for e in events if e.kind in ("all_gather", "reduce_scatter")]
    computing = [e for e in events if e.kind == "compute"]
    return sum(
        max((max(0.0, min(c.end, m.end) - max(c.posted, m.posted)) for m in moving), default=0.0) for c in computing
    )
