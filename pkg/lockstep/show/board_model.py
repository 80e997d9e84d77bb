"""A board to draw a schedule on: which cells are filled, what is still missing, what breaks a rule and what is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

from lockstep.errors import UsageError
from lockstep.pipeline import drawing
from lockstep.pipeline.drawing import IDLE, Illegal, Rows
from lockstep.show import quantities

MOST_STAGES, MOST_MICRO_BATCHES = 8, 16
MOST_STATES = 20_000  # of the search for the fewest slots: it takes less than a second
MOST_SLOTS = 2 * MOST_STAGES * MOST_MICRO_BATCHES  # one pass at a time
NOTHING = ".."


@dataclass(frozen=True)
class Board:
    """``cells`` has a row for each stage, all equally long: at least one column is empty on the right."""

    stages: int
    micro_batches: int
    cap: int
    cells: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, stages: int, micro_batches: int, cap: int, rows: Rows | str | None = None) -> Board:
        """``rows`` as an exercise's answer has them, or their text. UsageError for what is no board."""
        if not 1 <= stages <= MOST_STAGES or not 1 <= micro_batches <= MOST_MICRO_BATCHES or cap < 1:
            most = f"{MOST_STAGES} stages, {MOST_MICRO_BATCHES} micro-batches"
            raise UsageError(f"A board has up to {most} and a cap of 1 or more, not {(stages, micro_batches, cap)}.")
        if comb(micro_batches + 2 * stages, 2 * stages) > MOST_STATES:
            size = f"{stages} stages with {micro_batches} micro-batches"
            raise UsageError(f"The shortest drawing of {size} is not searched for: it takes too long.", "Take fewer.")
        given = [line.split() for line in rows.strip().splitlines()] if isinstance(rows, str) else rows
        given = given or [[] for _ in range(stages)]
        if len(given) != stages:
            raise UsageError(f"The drawing has {quantities.count(len(given), 'row')}, the board {stages} stages.")
        for stage, row in enumerate(given):
            if isinstance(row, str) or not all(isinstance(cell, str) for cell in row):
                raise UsageError(f"Row {stage} is no list of cells such as 'F0', 'B0' or '..'.")
            if len(row) > MOST_SLOTS:
                raise UsageError(f"Row {stage} has {len(row)} cells; a board has up to {MOST_SLOTS} slots.")
        return cls(stages, micro_batches, cap, ())._with(given)

    def put(self, stage: int, slot: int, cell: str) -> Board:
        """The board with ``cell`` there in place of what stood there. ".." clears it; "F" and "B" are the first F and B
        that the row doesn't have yet. Any other text is kept, too, and marked.
        """
        if not self.has(stage, slot):
            raise UsageError(f"This board has no slot {slot} on stage {stage}.")
        rows = [list(row) for row in self.cells]
        if cell in ("F", "B"):
            cell = next((absent for absent in self.missing[stage] if absent[0] == cell), rows[stage][slot])
        rows[stage][slot] = (cell.split() or [NOTHING])[0][:4]
        return self._with(rows)

    def has(self, stage: int, slot: int) -> bool:
        return 0 <= stage < self.stages and 0 <= slot < len(self.cells[stage])

    def _with(self, rows: Rows) -> Board:
        wide = min(MOST_SLOTS, max(self.best, drawing.slots(rows)) + 1)
        cells = [tuple(NOTHING if cell in IDLE else cell for cell in row[:wide]) for row in rows]
        return replace(self, cells=tuple(row + (NOTHING,) * (wide - len(row)) for row in cells))

    # ---- what is drawn

    @cached_property
    def rows(self) -> list[list[str]]:
        """The drawing, without empty columns on the right: an answer to ``draw_the_schedule``."""
        return [list(row[: drawing.slots(self.cells)]) for row in self.cells]

    @cached_property
    def text(self) -> str:
        """A line for each stage: what an answer to ``draw_the_schedule`` splits into rows and cells."""
        wide = max((len(cell) for row in self.rows for cell in row), default=2)
        return "\n".join(" ".join(cell.ljust(wide) for cell in row).rstrip() for row in self.rows)

    @cached_property
    def broken(self) -> list[Illegal]:
        return list(drawing.broken(self.cells, self.micro_batches, self.cap))

    @cached_property
    def marks(self) -> dict[tuple[int, int], str]:
        """Why a cell is marked, by stage and slot."""
        found = dict[tuple[int, int], str]()
        for place in self.broken:
            found.setdefault((place.stage, place.slot), drawing.told(place))
        return found

    @cached_property
    def missing(self) -> list[list[str]]:
        """Of each row: the passes that it doesn't have yet."""
        return [drawing.missing(row, self.micro_batches) for row in self.cells]

    @cached_property
    def legal(self) -> bool:
        """Complete, and no rule is broken."""
        return not self.broken and not any(self.missing)

    # ---- what it costs

    @cached_property
    def slots(self) -> int:
        return drawing.slots(self.cells)

    @property
    def best(self) -> int:
        """The fewest slots of any legal drawing."""
        return drawing.best_slots(self.stages, self.micro_batches, self.cap)

    @cached_property
    def kept(self) -> list[int]:
        """The most micro-batches that each stage keeps at once, at least."""
        return [max(of_stage, default=0) for of_stage in drawing.kept(self.cells)]

    @cached_property
    def idle(self) -> int:
        """Cells with nothing in them, up to the last pass of any stage."""
        return sum(cell in IDLE for row in self.rows for cell in row)

    # ---- what is told

    @property
    def task(self) -> str:
        stages = quantities.count(self.stages, "stage")
        parts = quantities.count(self.micro_batches, "micro-batch", "micro-batches")
        return f"Draw a schedule: {stages}, {parts}, cap {self.cap}"

    def counts(self) -> str:
        """As in "6 slots so far; the shortest legal drawing takes 6. 4 of 12 cells are idle: a bubble of 33%."."""
        possible = f"the shortest legal drawing takes {self.best}"
        if not self.slots:
            return f"No slot is used so far; {possible}."
        cells = self.stages * self.slots
        slots = quantities.count(self.slots, "slot")
        return (
            f"{slots} so far; {possible}. {self.idle} of {cells} cells are idle: a bubble of {self.idle / cells:.0%}."
        )

    def told(self, before: Board | None = None) -> str:
        """What is to be said of the drawing, above all of a rule that is broken and was not in ``before``."""
        seen = [drawing.told(place) for place in before.broken] if before else []
        found = [drawing.told(place) for place in self.broken]
        if found:
            first = next((why for why in found if why not in seen), found[0])
            others = len(self.marks) - 1
            more = (
                f" {quantities.count(others, 'more cell')} {'is' if others == 1 else 'are'} marked." if others else ""
            )
            return f"R{first[1:]}.{more}"
        if self.legal:
            short = "none takes fewer" if self.slots == self.best else f"{self.best} are possible"
            return f"The drawing is legal. It takes {quantities.count(self.slots, 'slot')}; {short}."
        passes = 2 * self.stages * self.micro_batches
        placed = passes - sum(map(len, self.missing))
        return f"No rule is broken so far. {placed} of {passes} passes are placed."

    def wanting(self) -> str:
        """Why the drawing can't train a model yet; "" if it can."""
        if self.broken:
            return f"It can't train yet. {self.told()}"
        if absent := [(stage, row) for stage, row in enumerate(self.missing) if row]:
            stage, row = absent[0]
            listed = ", ".join(row[:6]) + (", …" if len(row) > 6 else "")
            return f"It can't train yet. Stage {stage} still needs {listed}."
        return ""

    def words(self) -> str:
        """The board in words, row by row."""
        rows = "; ".join(f"stage {stage}: {' '.join(row)}" for stage, row in enumerate(self.rows))
        return f"{self.task}. {f'{rows}. {self.counts()} {self.told()}' if self.slots else 'The board is empty.'}"
