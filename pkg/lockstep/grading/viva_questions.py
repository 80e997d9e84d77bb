"""Questions for the author of an answer about its run, made from its trace, with their answers.

The library's source is public, and so is everyone's answer. The author of a function can say which of its lines
sends, to whom and how much. The rank that is asked about is drawn with the student's name as the seed: the same one
every time, and not always the neighbour's.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from lockstep.checks import Score
from lockstep.checks.wording import counted, listed
from lockstep.events import POINT_TO_POINT, Event, Trace

CLEARLY = 1.05  # times as long as any other
LONGEST = 80  # characters of a line's place, which the learner's run has written


@dataclass(frozen=True)
class Question:
    """``kind``: two of a kind are asked only where there is no other."""

    kind: str
    question: str
    answer: str


def questions(score: Score, student: str) -> list[dict[str, str]]:
    """All that can be asked about the run that a learner's page shows, as plain data."""
    trace = score.trace
    if trace is None or score.verdict not in ("passed", "wrong") or not trace.communication:
        return []
    talking = sorted({e.rank for e in trace.communication})
    rank = random.Random(f"{student}/{score.exercise}").choice(talking)
    run = f"{score.exercise.partition('.')[2]}, your run with {score.case}"
    return [asdict(Question(q.kind, f"{run}: {q.question}", q.answer)) for q in _about(trace, rank)]


def _about(trace: Trace, rank: int) -> Iterator[Question]:
    mine = [e for e in trace.communication if e.rank == rank]
    sends = [e for e in mine if e.kind == "send"]
    if sends:
        peers = Counter(e.peer for e in sends)
        each = listed([f"{number} to rank {peer}" for peer, number in sorted(peers.items(), key=str)])
        told = f"{len(sends)}: {each}." if len(peers) > 1 else f"{len(sends)}, to rank {sends[0].peer}."
        yield Question("messages", f"how many messages does rank {rank} send, and to whom?", told)
        nbytes = f"{sum(e.nbytes for e in sends):,} bytes, in {counted(len(sends), 'message')}."
        yield Question("bytes", f"how many bytes does rank {rank} send in all, and why so many?", nbytes)
    for kind, number in sorted(Counter(e.kind for e in mine if e.kind not in POINT_TO_POINT).items()):
        nbytes = f"{sum(e.nbytes for e in mine if e.kind == kind):,}"
        told = f"{counted(number, 'time')}, with {nbytes} bytes as this rank holds them."
        yield Question("calls", f"how often does rank {rank} call {kind}, and with how many bytes in all?", told)
    lines = Counter(e.where for e in mine if e.where).most_common(2)
    if len(lines) > 1 and lines[0][1] > lines[1][1]:
        asked = f"in which line does rank {rank} communicate most often, and how often?"
        yield Question("line", asked, f"{lines[0][0][:LONGEST]}: {counted(lines[0][1], 'time')}.")
    waits = sorted(mine, key=lambda e: -e.wait)[:2]
    if len(waits) > 1 and waits[0].wait > CLEARLY * waits[1].wait:
        yield Question("wait", f"what does rank {rank} wait for longest, and why?", _waiting(waits[0]))


def _waiting(event: Event) -> str:
    others = [r for r in event.group if r != event.rank] if event.peer is None else [event.peer]
    towards = {"send": "to", "recv": "from"}.get(event.kind, "with")
    whom = f" {towards} rank{'s' if len(others) > 1 else ''} {listed(others)}" if others else ""
    line = f", in {event.where[:LONGEST]}" if event.where else ""
    return f"For its {event.kind}{whom}{line}: {event.wait * 1e6:,.1f} µs."
