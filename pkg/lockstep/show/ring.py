"""ring(): the ring all-reduce step by step under a slider, simulated on sets: whose contributions are in each chunk.

    K   ranks      r   a rank      t   round within its half, 0 ... K-2

    reduce-scatter    rank r sends chunk r - t - 1 to rank r + 1, which adds it to its own
    all-gather        rank r sends chunk r - t to rank r + 1, which stores it

All indices are mod K, as in ``lockstep.collectives.ring``. With ``chunks=1`` nothing is cut: every rank passes on the
whole tensor that it received last, which takes K - 1 rounds and far more bytes.

A step is drawn with a column for each rank, a cell for each chunk and an arrow for each message. A cell has one segment
for each rank; a filled one says that this rank's numbers are in the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lockstep.errors import UsageError
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player, Sheet, Slider
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


AHEAD = 8  # ranks that the page's slider goes to


class Ring(Player):
    """``steps`` is the algorithm as data, ``frames`` its drawings, ``captions`` their captions. See ``ring``."""

    label = "Ring all-reduce, step by step"

    def __init__(self, ranks: int = 4, chunks: int | None = None) -> None:
        self.ranks, self.is_whole = ranks, chunks == 1 and ranks > 1
        self.steps = simulate(ranks, chunks)
        sheet = _sheet(self.steps)
        super().__init__(sheet.frames, sheet.captions)

    def sliders(self) -> tuple[Slider, ...]:
        choices = self._choices()
        return (Slider("ranks", [str(k) for k in choices], choices.index(self.ranks)),)

    def sheets(self) -> list[Sheet]:
        return [_sheet(simulate(k, 1 if self.is_whole else None)) for k in self._choices()]

    def _choices(self) -> list[int]:
        return sorted({*range(1, AHEAD + 1), self.ranks})

    def caption(self) -> str:
        return f"Ring all-reduce, step {self.step} of {len(self.steps) - 1}. {self.captions[self.step]}"


def ring(ranks: int = 4, chunks: int | None = None) -> Ring:
    """The ring all-reduce of ``ranks`` ranks: which chunk is where, how much of the sum is in it, what moves next.

    ``chunks=1`` shows the ring that does not cut its tensor. Raises UsageError for more than 16 ranks.
    """
    return Ring(ranks, chunks)


def _sheet(steps: tuple[Step, ...]) -> Sheet:
    frames = [draw(step, len(steps), before) for step, before in zip(steps, (None, *steps), strict=False)]
    return Sheet(frames, [" ".join(caption(step, len(steps))) for step in steps])


PARTIAL = palette.COLOURS["reduce_scatter"]
COMPLETE = palette.COLOURS["all_reduce"]
WIDTH, EDGE, TOP = svg.WIDTH, 30.0, 118.0


def draw(step: Step, steps: int, before: Step | None = None) -> str:
    """The figure of ``step``, one of ``steps``. What moved in the one ``before`` is seen arriving."""
    grid = Grid(step)
    body = [
        svg.text(EDGE, 28, f"Ring all-reduce, step {step.number} of {steps - 1}", 14, font_weight=600),
        *(svg.faint(EDGE, 47 + 17 * i, line) for i, line in enumerate(_lines(step, steps))),
        *_columns(grid),
        *(part for move in step.moves for part in _move(grid, move)),
        *(_arrival(grid, move) for move in (before.moves if before else ())),
        *_key(grid),
    ]
    return svg.document(WIDTH, grid.height, f"Ring all-reduce, step {step.number}", _words(step, steps), body)


def _lines(step: Step, steps: int) -> list[str]:
    return [line for sentence in caption(step, steps) for line in svg.wrapped(sentence, WIDTH - 2 * EDGE)]


class Grid:
    """Where the cells are, in pixels."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.pitch = (WIDTH - 2 * EDGE) / step.ranks
        self.cell = min(self.pitch * 0.62, 150.0)
        self.tall = max(16.0, min(36.0, 300 / len(step.held[0])))
        self.rows = len(step.held[0])

    @property
    def height(self) -> float:
        return TOP + self.rows * (self.tall + 5) + 64

    def x(self, rank: int) -> float:
        return EDGE + self.pitch * rank + (self.pitch - self.cell) / 2

    def y(self, chunk: int) -> float:
        return TOP + chunk * (self.tall + 5)


def _columns(grid: Grid) -> Iterator[str]:
    small = grid.step.ranks > 9
    for rank, row in enumerate(grid.step.held):
        name = str(rank) if small else f"rank {rank}"
        yield svg.text(grid.x(rank) + grid.cell / 2, TOP - 9, name, 12, text_anchor="middle")
        for chunk, has in enumerate(row):
            yield _cell(grid, rank, chunk, has)
    if grid.rows > 1:
        for chunk in range(grid.rows):
            yield svg.faint(4, grid.y(chunk) + grid.tall / 2 + 4, f"c{chunk}")


def _cell(grid: Grid, rank: int, chunk: int, has: frozenset[int]) -> str:
    """Segments in one path: K of them, filled where the contribution is in."""
    ranks, x, y, h = grid.step.ranks, grid.x(rank), grid.y(chunk), grid.tall
    whole = " (complete)" if len(has) == ranks else ""
    told = f"rank {rank}, chunk {chunk}: sum over ranks {', '.join(map(str, sorted(has)))}{whole}"
    parts = [
        svg.title(told),
        svg.element("rect", x=x, y=y, width=grid.cell, height=h, rx=3, fill=palette.LANE, stroke=palette.FAINT,
                    stroke_width=0.8, class_="ls-lane"),
        _segments(grid, rank, chunk, has),
    ]  # fmt: skip
    return svg.element("g", *parts)


def _segments(grid: Grid, rank: int, chunk: int, has: frozenset[int]) -> str:
    x, y, h = grid.x(rank), grid.y(chunk), grid.tall
    wide = (grid.cell - 4) / grid.step.ranks
    gap = 1.0 if wide > 4 else 0.0
    filled = "".join(f"M{x + 2 + i * wide + gap:.1f} {y + 3:.1f}h{wide - 2 * gap:.1f}v{h - 6:.1f}h{2 * gap - wide:.1f}z"
                     for i in sorted(has))  # fmt: skip
    return svg.element("path", d=filled, fill=COMPLETE if len(has) == grid.step.ranks else PARTIAL)


def _move(grid: Grid, move: Move) -> Iterator[str]:
    """An arrow into the next column; from the last rank out at the right and in again at the left."""
    y = grid.y(move.chunk) + grid.tall / 2
    leaves, arrives = grid.x(move.source) + grid.cell + 2, grid.x(move.target) - 2
    told = svg.title(f"rank {move.source} sends chunk {move.chunk} to rank {move.target}")
    pieces = [(leaves, arrives)] if move.target > move.source else [(leaves, WIDTH - 4), (EDGE, arrives)]
    if grid.rows == 1 and len(pieces) == 2:
        pieces[1] = (8.0, arrives)
    for start, end in pieces:
        arrow = svg.arrow(start, y, end, y, head=8, fill=_shade(grid, move), stroke_width=2)
        yield svg.element("g", told, arrow)


def _arrival(grid: Grid, move: Move) -> str:
    """The chunk that has arrived, as it comes from its source's column."""
    segments = _segments(grid, move.target, move.chunk, move.contributions)
    return motion.came(grid.x(move.source) - grid.x(move.target), 0, segments)


def _shade(grid: Grid, move: Move) -> str:
    return COMPLETE if len(move.contributions) == grid.step.ranks else PARTIAL


def _key(grid: Grid) -> Iterator[str]:
    y = grid.height - 34
    for x, fill, words in ((EDGE, PARTIAL, "part of the sum"), (EDGE + 150, COMPLETE, "the whole sum")):
        yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, fill=fill)
        yield svg.text(x + 18, y, words)
    yield svg.faint(EDGE, y + 20, "Each segment of a cell is one rank's contribution.")


def _words(step: Step, steps: int) -> str:
    moving = "; ".join(f"rank {m.source} sends chunk {m.chunk} to rank {m.target}" for m in step.moves)
    return f"{' '.join(caption(step, steps))} {moving}".strip()
