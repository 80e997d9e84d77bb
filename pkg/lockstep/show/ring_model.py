"""The ring all-reduce, simulated on sets: which rank's contributions are in each chunk at each rank, round by round.

    K   ranks      r   a rank      t   round within its half, 0 ... K-2

    reduce-scatter    rank r sends chunk r - t - 1 to rank r + 1, which adds it to its own
    all-gather        rank r sends chunk r - t to rank r + 1, which stores it

All indices are mod K, as in ``lockstep.collectives.ring``. With ``chunks=1`` nothing is cut: every rank passes on the
whole tensor that it received last, which takes K - 1 rounds and far more bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.errors import UsageError
from lockstep.show.quantities import count

LARGEST = 16  # ranks that can be seen on one page

Held = tuple[tuple[frozenset[int], ...], ...]  # held[rank][chunk]: the ranks whose contributions are in it


@dataclass(frozen=True)
class Move:
    """One message: ``chunk`` goes from ``source`` to ``target``, which adds it or stores it."""

    source: int
    target: int
    chunk: int
    contributions: frozenset[int]
    adds: bool


@dataclass(frozen=True)
class Step:
    """What every rank holds after ``number`` rounds, and what moves in the round that comes next."""

    number: int
    phase: str  # "reduce-scatter", "all-gather", "ring", "done"
    held: Held
    moves: tuple[Move, ...]

    @property
    def ranks(self) -> int:
        return len(self.held)

    def complete(self, rank: int) -> tuple[int, ...]:
        """The chunks of ``rank`` that hold the whole sum."""
        return tuple(c for c, has in enumerate(self.held[rank]) if len(has) == self.ranks)


def simulate(ranks: int, chunks: int | None = None) -> tuple[Step, ...]:
    """Every step of the algorithm; the last one has no moves left. ``chunks`` is ``ranks``, or 1."""
    if not 1 <= ranks <= LARGEST:
        raise UsageError(f"This figure shows 1 to {LARGEST} ranks, not {ranks}.")
    if chunks not in (None, 1, ranks):
        raise UsageError(f"A ring of {ranks} ranks cuts its tensor into {ranks} chunks, or not at all, not {chunks}.")
    held: Held = tuple(tuple(frozenset({r}) for _ in range(chunks or ranks)) for r in range(ranks))
    rounds = _whole(ranks) if chunks == 1 else _chunked(ranks)
    steps: list[Step] = []
    carried = [frozenset({r}) for r in range(ranks)]  # for the ring that is not cut: what arrived last
    for phase, sends in rounds:
        moves = tuple(
            Move(r, (r + 1) % ranks, c, carried[r] if phase == "ring" else held[r][c], phase != "all-gather")
            for r, c in enumerate(sends)
        )
        steps.append(Step(len(steps), phase, held, moves))
        carried = [carried[r - 1] for r in range(ranks)]
        held = _after(held, moves)
    return (*steps, Step(len(steps), "done", held, ()))


def _chunked(ranks: int) -> list[tuple[str, list[int]]]:
    """For each round its phase, and the chunk that each rank sends."""
    rounds = range(ranks - 1)
    scatter = [("reduce-scatter", [(r - t - 1) % ranks for r in range(ranks)]) for t in rounds]
    return scatter + [("all-gather", [(r - t) % ranks for r in range(ranks)]) for t in rounds]


def _whole(ranks: int) -> list[tuple[str, list[int]]]:
    return [("ring", [0] * ranks)] * (ranks - 1)


def _after(held: Held, moves: tuple[Move, ...]) -> Held:
    """All messages of a round travel at once: what is sent is what was held before it."""
    new = [list(row) for row in held]
    for m in moves:
        own = held[m.target][m.chunk]
        new[m.target][m.chunk] = own | m.contributions if m.adds else m.contributions
    return tuple(tuple(row) for row in new)


def caption(step: Step, steps: int) -> tuple[str, str]:
    """What this step shows, in two sentences: what every rank has, and what happens next."""
    done, last = step.number, steps - 1
    if step.ranks == 1:
        return "One rank has the whole sum already.", "Nothing moves."
    if step.phase == "done":
        return f"After {count(done, 'round')} every rank has the whole sum.", "Nothing moves any more."
    whole = len(step.complete(0))
    owned = f"each rank has {count(whole, 'complete chunk')}" if whole else "no chunk is complete yet"
    has = (
        f"After {count(done, 'round')} of {last}, {owned}." if done else "At first each rank has its own numbers only."
    )
    happens = {
        "reduce-scatter": "each rank sends one chunk to the right, where it is added",
        "all-gather": "each rank sends one complete chunk to the right, where it is stored",
        "ring": "each rank sends a whole tensor to the right, where it is added and passed on",
    }[step.phase]
    return has, f"Next ({step.phase}): {happens}."
