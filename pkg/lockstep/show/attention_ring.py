"""attention_ring(): causal attention over a sequence that is cut among ranks, round by round.

Left, every pair of a chunk of queries and a chunk of keys that is to be computed, in the colour of its rank. Right, a
lane for each rank: how many pairs it computes in each round. A round takes as long as its busiest rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from lockstep.context_parallel.layout import Layout
from lockstep.context_parallel.ring_attention import blocks
from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.player import Player, Sheet, Slider
from lockstep.show.quantities import count

MOST_RANKS, EACH = 4, 8  # positions of a chunk
COLOURS = [palette.COLOURS[kind] for kind in ("all_reduce", "send", "recv", "broadcast")]
LAYOUTS = {"one stretch": False, "zig-zag": True}
EDGE, TOP, SIDE = 14.0, 92.0, 200.0
LEFT, RIGHT, LANE = 268.0, 526.0, 30.0
HEIGHT = TOP + SIDE + 64


class Computed(NamedTuple):
    """In ``step``, ``rank`` computes the pairs of chunk ``queries`` with chunk ``keys``."""

    step: int
    rank: int
    queries: int
    keys: int
    pairs: int


@dataclass(frozen=True)
class Ring:
    """K ranks with 2K chunks, in one stretch each or zig-zag."""

    K: int
    zigzag: bool

    @cached_property
    def layout(self) -> Layout:
        return Layout(2 * self.K * EACH, self.K, self.zigzag)

    def chunks(self, rank: int) -> list[int]:
        """Of the 2K chunks, those of ``rank``."""
        return sorted({position // EACH for position in self.layout.positions(rank).tolist()})

    def owner(self, rank: int, step: int) -> int:
        """Whose keys and values ``rank`` has in this step."""
        return (rank - step) % self.K

    @cached_property
    def computed(self) -> tuple[Computed, ...]:
        """By the chunks that ``ring_attention`` computes, each cut in the 2K-th parts of the sequence."""
        return tuple(
            Computed(step, rank, queries, keys, EACH * (EACH + 1) // 2 if queries == keys else EACH * EACH)
            for step in range(self.K)
            for rank in range(self.K)
            if list(blocks(self.layout.chunks(rank), self.layout.chunks(self.owner(rank, step)), causal=True))
            for queries in self.chunks(rank)
            for keys in self.chunks(self.owner(rank, step))
            if keys <= queries
        )

    def pairs(self, rank: int, step: int) -> int:
        return sum(c.pairs for c in self.computed if (c.rank, c.step) == (rank, step))

    def longest(self, step: int) -> int:
        """Of the busiest rank."""
        return max(self.pairs(rank, step) for rank in range(self.K))

    def began(self, step: int) -> int:
        """When a step begins, in pairs of a rank that never waits."""
        return sum(map(self.longest, range(step)))


class AttentionRing(Player):
    """A step is a round. See ``attention_ring``."""

    label = "Ring attention"
    unit = "round"

    def __init__(self, K: int, zigzag: bool) -> None:
        self.K, self.zigzag = K, zigzag
        sheet = sheet_of(Ring(K, zigzag))
        super().__init__(sheet.frames, sheet.captions, step=K - 1)

    def sliders(self) -> Sequence[Slider]:
        return (Slider("Layout", list(LAYOUTS), int(self.zigzag)),)

    def sheets(self) -> Sequence[Sheet]:
        return [sheet_of(Ring(self.K, zigzag)) for zigzag in LAYOUTS.values()]


def attention_ring(ranks: int = 4, zigzag: bool = False) -> AttentionRing:
    """Rounds of ring attention on up to 4 ranks, with both layouts. Raises UsageError for other numbers."""
    if not 1 < ranks <= MOST_RANKS:
        raise UsageError(f"This figure has 2 to {MOST_RANKS} ranks, not {ranks}.")
    return AttentionRing(ranks, zigzag)


def sheet_of(ring: Ring) -> Sheet:
    return Sheet([draw(ring, step) for step in range(ring.K)], [words(ring, step) for step in range(ring.K)])


def words(ring: Ring, step: int) -> str:
    name = next(name for name, zigzag in LAYOUTS.items() if zigzag == ring.zigzag)
    pairs = ", ".join(f"{ring.pairs(rank, step):,}" for rank in range(ring.K))
    done = ring.began(ring.K)
    idle = 1 - sum(c.pairs for c in ring.computed) / (done * ring.K)
    first = "Each has its own keys" if step == 0 else f"Each has the keys of the rank {count(step, 'place')} before it"
    computed = f"Ranks 0 to {ring.K - 1} compute {pairs} pairs"
    return f"{name}, round {step}. {first}. {computed}. Of the whole, {idle:.0%} is waiting."


def draw(ring: Ring, step: int) -> str:
    head, _, rest = words(ring, step).partition(". ")
    body = [
        svg.text(EDGE, 26, head, 14, font_weight=600),
        *(svg.faint(EDGE, 45 + 16 * i, line) for i, line in enumerate(svg.wrapped(rest, 520))),
        *_grid(ring, step),
        *_lanes(ring, step),
    ]
    return svg.document(svg.WIDTH, HEIGHT, f"Ring attention: {head}", words(ring, step), body)


def _grid(ring: Ring, step: int) -> Iterator[str]:
    n = 2 * ring.K
    side, left = SIDE / n, EDGE + 24
    yield svg.lane(left, TOP, SIDE, SIDE)
    for c in ring.computed:
        x, y, fill = left + side * c.keys, TOP + side * c.queries, COLOURS[c.rank]
        told = svg.title(f"rank {c.rank}, round {c.step}: queries of chunk {c.queries}, keys of chunk {c.keys}")
        size: dict[str, Any] = {"width": side - 2, "height": side - 2, "rx": 2}
        if c.step > step:
            rim: dict[str, Any] = {"stroke": palette.FAINT, "stroke_dasharray": "2 2", "fill": "none"}
            yield svg.element("rect", told, x=x + 1, y=y + 1, **size, **rim)
            continue
        now = c.step == step
        rim = {"stroke": palette.INK, "stroke_width": 2, "class_": "ls-line"} if now else {"fill_opacity": palette.PALE}
        yield svg.element("rect", told, x=x + 1, y=y + 1, **size, fill=fill, **rim)
        if now:
            yield svg.text(
                x + side / 2, y + side / 2 + 4, str(c.rank), text_anchor="middle", fill=palette.text_on(fill)
            )
    for i in range(n):
        yield svg.faint(left - 6, TOP + side * (i + 0.5) + 4, str(i), text_anchor="end")
        yield svg.faint(left + side * (i + 0.5), TOP + SIDE + 15, str(i), text_anchor="middle")
    yield svg.faint(left, TOP + SIDE + 34, "Down: queries. Across: keys.")
    yield svg.faint(left, TOP + SIDE + 51, "In a square: the rank at it now.")


def _lanes(ring: Ring, step: int) -> Iterator[str]:
    whole = ring.began(ring.K)
    scale = (RIGHT - LEFT) / max(whole, Ring(ring.K, False).began(ring.K))
    for rank in range(ring.K):
        y = TOP + rank * (LANE + 20)
        chunks = ", ".join(map(str, ring.chunks(rank)))
        yield svg.text(LEFT, y - 4, f"rank {rank}: chunks {chunks}; keys of rank {ring.owner(rank, step)}")
        yield svg.lane(LEFT, y, scale * whole, LANE - 8)
        for s in range(step + 1):
            pairs, x = ring.pairs(rank, s), LEFT + scale * ring.began(s)
            told = svg.title(f"rank {rank}, round {s}: {pairs:,} pairs")
            look = {} if s == step else {"fill_opacity": palette.PALE}
            yield svg.bar(x, y, scale * pairs, LANE - 8, pairs, told, fill=COLOURS[rank], **look)
    yield svg.faint(LEFT, TOP + SIDE + 34, "Pairs, round after round.")
    yield svg.faint(LEFT, TOP + SIDE + 51, "A round lasts until its busiest rank is done.")
